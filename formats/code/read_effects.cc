#include "formats/code/read_effects.h"

#include <algorithm>
#include <utility>

#include "formats/elf/elf_code.h"
#include "formats/elf/elf_file.h"

namespace reweave {
namespace {

// The most instructions to examine, which takes some seconds. An instruction counts again for each read that is
// followed. Reads beyond this limit count as deciding.
constexpr std::uint64_t kMaxWork = 300'000'000;

}  // namespace

ReadEffects::ReadEffects(const TraceReader& trace)
    : files_(RecordedFiles::of_source(trace.info().header.source)), work_left_(kMaxWork) {
  const std::uint32_t sites = trace.info().sites;
  reads_.assign(sites, 0);
  writes_.assign(sites, 0);
  if (!can_decode()) return;
  std::map<std::pair<std::string, std::string>, File> files;
  for (std::uint32_t site = 0; site < sites; ++site) {
    const SiteLocation at = trace.site_location(site);
    if (at.module == kNoModule) continue;
    const ModuleInfo& module = trace.info().modules.at(at.module);
    files[{module.path, module.build_id}].places.push_back({at.offset, site});
  }
  for (auto& [name, file] : files) {
    std::sort(file.places.begin(), file.places.end());
    look(file, open(name.first, name.second));
  }
  const bool all_announced =
      std::all_of(files.begin(), files.end(), [](const auto& named) { return named.second.announces_all; });
  for (const auto& [name, file] : files) mark(file, all_announced);
}

Fd ReadEffects::open(const std::string& path, const std::string& build_id) const {
  if (build_id.empty()) return Fd();
  Fd file = files_.open(path);
  return build_id_of(file) == build_id ? std::move(file) : Fd();
}

void ReadEffects::look(File& file, Fd opened) {
  if (!opened.valid()) return;
  const ElfCode elf(std::move(opened));
  file.announces_all = elf.made_by_gcc() || !elf.instrumented();
  if (!elf.instrumented()) return;
  for (std::size_t first = 0; first < file.places.size() && work_left_ > 0;) {
    std::size_t last = first + 1;
    if (const auto code = elf.function_at(file.places[first].offset)) {
      const std::uint64_t end = code->start + code->code.size();
      while (last < file.places.size() && file.places[last].offset < end) ++last;
      const InstrumentedFunction function(elf, *code);
      work_left_ -= std::min(work_left_, function.work());
      look_at_reads(file, function, first, last);
    }
    first = last;
  }
}

void ReadEffects::look_at_reads(File& file, const InstrumentedFunction& function, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t call = function.call_before(file.places[i].offset);
    if (call == InstrumentedFunction::kNowhere) continue;
    const bool updates = function.callee(call).updates;
    if (!updates && function.callee(call).kind != Callee::Kind::kAnnouncesRead) continue;
    if (!updates) ++counts_.places;
    if (work_left_ == 0) continue;
    const auto effect_of = updates ? effect_of_update : effect_of_read;
    ReadEffect effect = effect_of(function, file.places[i].offset);
    work_left_ -= std::min(work_left_, effect.work);
    if (effect.decides) continue;
    if (updates) {
      reads_[file.places[i].site] = kOnlyData;
    } else {
      file.reads.push_back({file.places[i].site, std::move(effect)});
    }
  }
}

void ReadEffects::mark(const File& file, bool all_announced) {
  for (const Read& read : file.reads) {
    if (!read.effect.stores.empty() && !all_announced) continue;
    ++counts_.free_places;
    reads_[read.site] = kOnlyData;
    for (const std::uint64_t store : read.effect.stores) {
      auto place = std::lower_bound(file.places.begin(), file.places.end(), Place{store, 0});
      for (; place != file.places.end() && place->offset == store; ++place) writes_[place->site] = kOnlyData;
    }
  }
}

std::uint8_t code_bits(AccessCode& code, const ReadEffects& effects, std::uint32_t site, EventKind kind,
                       std::uint64_t bytes) {
  if (kind == EventKind::kAtomicRmw) return effects.only_data(site, kind);
  if (kind != EventKind::kRead && kind != EventKind::kWrite) return 0;
  // The two kinds of bits exclude each other: a pointer that is followed decides, and null carries nothing.
  const std::uint8_t only_data = effects.only_data(site, kind);
  return only_data != 0 ? only_data : code.null_value(site, kind, bytes);
}

}  // namespace reweave
