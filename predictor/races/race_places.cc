#include "predictor/races/race_places.h"

#include "formats/recording/recorded_symbols.h"
#include "formats/trace/process_addresses.h"

namespace reweave {

namespace {

constexpr const char* kTopFunctions[] = {"",
                                         "malloc",
                                         "free",
                                         "pthread_create",
                                         "pthread_mutex_init",
                                         "pthread_mutex_destroy",
                                         "pthread_mutex_lock",
                                         "pthread_mutex_unlock"};
constexpr const char* kOurs = "libreweave-tsan.so";

bool is_ours(const std::string& module) {
  const std::string name = file_name(module);
  return name == "libreweave.so" || name == kOurs;
}

}  // namespace

const char* name_of(TopFunction function) { return kTopFunctions[static_cast<std::size_t>(function)]; }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

RacePlaces::RacePlaces(const TraceReader& trace, const RaceFindings& findings)
    : trace_(trace),
      findings_(findings),
      symbols_(symbol_files(RecordedFiles::of_source(trace.info().header.source))) {}

const std::string& RacePlaces::module_of(std::uint32_t site) const {
  static const std::string no_path;
  const SiteLocation place = trace_.site_location(site);
  return place.module == kNoModule ? no_path : trace_.info().modules[place.module].path;
}

std::vector<ReportFrame> RacePlaces::frames(const NamedPlace& place) {
  std::vector<ReportFrame> frames;
  if (place.top != TopFunction::kNoFunction) frames.push_back({name_of(place.top), "", 0, kOurs, 0});
  bool more = add_frames(place.place.site, frames);
  for (StackId stack = place.place.stack; stack != 0 && more; stack = findings_.calls.parent(stack))
    more = add_frames(findings_.calls.site(stack), frames);
  return frames;
}

// Adds the frames of a site. Returns false if the frames further out mean nothing to the program's author.
bool RacePlaces::add_frames(std::uint32_t site, std::vector<ReportFrame>& frames) {
  const SiteLocation place = trace_.site_location(site);
  if (place.module == kNoModule) return false;
  const ModuleInfo& module = trace_.info().modules[place.module];
  if (is_ours(module.path)) return false;
  const std::uint64_t offset = place.offset - 1;
  const CodeSymbol& code = symbols_.code(module.path, module.build_id, place.offset);
  if (code.frames.empty()) frames.push_back({"", "", 0, module.path, offset});
  for (const SourceFrame& frame : code.frames)
    frames.push_back({frame.function, frame.file, frame.line, module.path, offset});
  return frames.back().function != "main";
}

GlobalVariable RacePlaces::global(std::uint64_t tagged) {
  const std::uint64_t address = tagged & kAddressMask;
  // A module's data follow its code, so the module is the nearest one below the address.
  const ModuleInfo* nearest = nullptr;
  for (const ModuleInfo& module : trace_.info().modules)
    if (module.base <= address && (nearest == nullptr || nearest->base < module.base)) nearest = &module;
  if (nearest == nullptr) return {};
  const std::uint64_t offset = address - nearest->base;
  const DataSymbol found = symbols_.data(nearest->path, nearest->build_id, offset);
  if (found.name.empty()) return {};
  return {found.name, address - found.offset, found.size, nearest->path, offset - found.offset};
}

}  // namespace reweave
