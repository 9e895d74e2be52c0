#include "explorer/words/places.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <filesystem>

#include "formats/base/error.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/function_names.h"
#include "formats/elf/library_code.h"
#include "formats/elf/source_lines.h"
#include "formats/recording/program_loads.h"
#include "formats/recording/recorded_symbols.h"
#include "formats/recording/recording_reader.h"
#include "recorder/arena.h"

namespace reweave {

namespace {

struct LoadedProgram {
  std::uint64_t base, end;
};

// The core loads a program where its slot says, or at its own addresses if it is not position independent. Nothing if
// the file is damaged.
std::optional<LoadedProgram> load_addresses(const Fd& program, std::uint64_t slot) {
  std::uint64_t end = 0;
  bool is_movable = false;
  if (slot >= kProgramSlots || !find_program_bounds(program, end, is_movable)) return std::nullopt;
  const std::uint64_t base = is_movable ? pie_base(static_cast<std::uint32_t>(slot)) : 0;
  return LoadedProgram{base, base + end};
}

}  // namespace

std::string frame_text(const SourceFrame& frame) {
  const std::string function = short_name(frame.function);
  if (frame.file.empty()) return function;
  return fmt::format("{} ({}:{})", function, std::filesystem::path(frame.file).filename().string(), frame.line);
}

Places::Places(const std::string& recording)
    : files_(RecordedFiles::of_source(recording)), symbols_(symbol_files(RecordedFiles::of_source(recording))) {
  RecordingReader reader(recording);
  const auto build_id = [&](const std::string& path) -> std::string {
    for (const MappedFile& file : reader.manifest().files)
      if (file.path == path) return file.build_id;
    return "";
  };
  const auto add = [&](std::uint64_t base, std::uint64_t start, std::uint64_t end, const std::string& path,
                       bool is_program) {
    const auto is_same = [&](const Module& module) {
      return module.base == base && module.start == start && module.end == end && module.path == path;
    };
    if (std::ranges::none_of(modules_, is_same))
      modules_.push_back({base, start, end, path, build_id(path), is_program});
  };
  ProgramLoads programs;
  while (const wire::RecordHeader* record = reader.next()) {
    const wire::MapFileRecord* program = programs.find(record);
    if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) continue;
    const auto* file = &wire::record_cast<wire::MapFileRecord>(*record);
    const std::string path = mapped_path(*file);
    if (program != nullptr) {
      const std::optional<LoadedProgram> loaded = load_addresses(files_.open(path), file->offset);
      if (loaded) add(loaded->base, loaded->base, loaded->end, path, true);
    } else if (file->address != 0 && (file->prot & PROT_EXEC) != 0) {
      const std::uint64_t start = file->address, end = start + file->length;
      add(start - file->offset, start, end, path, false);
    }
  }
  std::ranges::stable_partition(modules_, &Module::is_program);
}

const SourceFrame* Places::frame(std::uint64_t pc) {
  const CodeSymbol* found = symbol(pc);
  if (found == nullptr || found->frames.empty()) return nullptr;
  const auto own = std::find_if(found->frames.begin(), found->frames.end(),
                                [](const SourceFrame& frame) { return !is_of_library(frame.file); });
  return own == found->frames.end() ? &found->frames.front() : &*own;
}

const Places::Module* Places::module_at(std::uint64_t address) const {
  const Module* found = nullptr;
  for (const Module& module : modules_) {
    if (address < module.start || address >= module.end) continue;
    if (found != nullptr && (module.path != found->path || module.base != found->base)) return nullptr;
    if (found == nullptr) found = &module;
  }
  return found;
}

bool Places::in_program(std::uint64_t pc) const {
  const Module* module = module_at(pc);
  return module != nullptr && module->is_program;
}

const CodeSymbol* Places::symbol(std::uint64_t pc) {
  const Module* module = module_at(pc);
  return module == nullptr ? nullptr : &symbols_.code(module->path, module->build_id, pc - module->base);
}

std::string Places::code(std::uint64_t pc) {
  const CodeSymbol* found = symbol(pc);
  if (found == nullptr) return fmt::format("{:#x}", pc);
  const SourceFrame* shown = frame(pc);
  return shown == nullptr ? found->fallback : frame_text(*shown);
}

std::vector<CodeFrame> Places::frames(std::uint64_t pc) {
  const Module* module = module_at(pc);
  if (module != nullptr && is_of_reweave(module->path)) return {};
  const CodeSymbol* found = symbol(pc);
  const bool library = module != nullptr && is_library_module(module->path);
  if (found == nullptr || found->frames.empty()) return {{code(pc), "", library}};
  std::vector<CodeFrame> frames;
  for (const SourceFrame& frame : found->frames)
    frames.push_back({frame_text(frame), short_name(frame.function), library || is_of_library(frame.file)});
  return frames;
}

std::string Places::function(std::uint64_t pc) {
  const SourceFrame* shown = frame(pc);
  return shown == nullptr ? code(pc) : short_name(shown->function);
}

bool Places::is_own(std::uint64_t pc) {
  const SourceFrame* shown = in_program(pc) ? frame(pc) : nullptr;
  return shown != nullptr && !shown->file.empty() && !is_of_library(shown->file);
}

std::vector<SourceFrame> Places::own_frames(std::uint64_t pc) {
  std::vector<SourceFrame> frames;
  const CodeSymbol* found = in_program(pc) ? symbol(pc) : nullptr;
  if (found == nullptr) return frames;
  std::ranges::copy_if(found->frames, std::back_inserter(frames),
                       [](const SourceFrame& frame) { return !frame.file.empty() && !is_of_library(frame.file); });
  return frames;
}

std::vector<SourceFrame> Places::all_frames(std::uint64_t pc) {
  const Module* module = module_at(pc);
  if (module != nullptr && is_of_reweave(module->path)) return {};
  const CodeSymbol* found = symbol(pc);
  return found == nullptr ? std::vector<SourceFrame>() : found->frames;
}

std::string Places::type_allocated_at(std::uint64_t pc, std::uint64_t bytes) {
  const Module* module = module_at(pc);
  return module == nullptr ? "" : symbols_.allocated_type(module->path, module->build_id, pc - module->base, bytes);
}

std::string Places::source_line(std::uint64_t pc) {
  const SourceFrame* shown = frame(pc);
  if (shown == nullptr || shown->file.empty()) return "";
  const std::vector<std::string> lines = source_lines(shown->file);
  const int line = shown->line;
  return line < 1 || static_cast<std::size_t>(line) > lines.size() ? "" : std::string(trimmed(lines[line - 1]));
}

std::uint64_t Places::address_of(const std::string& function) {
  std::vector<std::uint64_t> found;
  std::string programs;
  for (const Module& module : modules_) {
    if (!module.is_program) break;
    programs += (programs.empty() ? "" : ", ") + module.path;
    for (const std::uint64_t address : symbols_.functions(module.path, module.build_id, function))
      found.push_back(module.base + address);
  }
  REQUIRE(!found.empty(), "{} has no function {}", programs, function);
  REQUIRE(found.size() == 1, "{} has {} functions {}", programs, found.size(), function);
  return found.front();
}

DataSymbol Places::data(std::uint64_t address) {
  const Module* module = module_at(address);
  return module == nullptr ? DataSymbol() : symbols_.data(module->path, module->build_id, address - module->base);
}

std::string Places::object(std::uint64_t address) {
  const DataSymbol known = data(address);
  return known.name.empty() ? fmt::format("memory at {:#x}", address) : known.text();
}

}  // namespace reweave
