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
#include "formats/recording/recorded_symbols.h"
#include "formats/recording/recording_reader.h"
#include "recorder/arena.h"

namespace reweave {

namespace {

struct LoadedProgram {
  std::uint64_t base = kPieBase, end = kPieBase;
};

// The core loads the program itself: at kPieBase, or at its own addresses if it is not position independent.
LoadedProgram load_addresses(const Fd& program) {
  std::uint64_t end = 0;
  bool is_movable = false;
  if (!find_program_bounds(program, end, is_movable)) return {};
  const std::uint64_t base = is_movable ? kPieBase : 0;
  return {base, base + end};
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
  auto build_id = [&](const std::string& path) -> std::string {
    for (const MappedFile& file : reader.manifest().files)
      if (file.path == path) return file.build_id;
    return "";
  };
  bool program_seen = false, executed = false;
  while (const wire::RecordHeader* record = reader.next()) {
    executed = executed || record->kind == static_cast<std::uint16_t>(wire::RecordKind::kExec);
    if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) continue;
    const auto* file = &wire::record_cast<wire::MapFileRecord>(*record);
    const std::string path = mapped_path(*file);
    if (file->address == 0) {
      if (program_seen && executed && path != modules_.front().path) several_programs_ = true;
      executed = false;
      if (program_seen) continue;
      program_seen = true;
      const LoadedProgram program = load_addresses(files_.open(path));
      modules_.push_back({program.base, program.base, program.end, path, build_id(path)});
    } else if ((file->prot & PROT_EXEC) != 0) {
      modules_.push_back(
          {file->address - file->offset, file->address, file->address + file->length, path, build_id(path)});
    }
  }
}

const SourceFrame* Places::frame(std::uint64_t pc) {
  const CodeSymbol* found = symbol(pc);
  if (found == nullptr || found->frames.empty()) return nullptr;
  const auto own = std::find_if(found->frames.begin(), found->frames.end(),
                                [](const SourceFrame& frame) { return !is_of_library(frame.file); });
  return own == found->frames.end() ? &found->frames.front() : &*own;
}

const Places::Module* Places::module_at(std::uint64_t address) const {
  for (const Module& module : modules_)
    if (address >= module.start && address < module.end) return &module;
  return nullptr;
}

const CodeSymbol* Places::symbol(std::uint64_t pc) {
  const Module* module = module_at(pc);
  if (several_programs_ && module == modules_.data()) return nullptr;
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
  CHECK(!modules_.empty());
  const Module& program = modules_.front();
  const std::vector<std::uint64_t> found = symbols_.functions(program.path, program.build_id, function);
  REQUIRE(!found.empty(), "{} has no function {}", program.path, function);
  REQUIRE(found.size() == 1, "{} has {} functions {}", program.path, found.size(), function);
  return program.base + found.front();
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
