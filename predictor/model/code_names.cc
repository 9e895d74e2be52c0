#include "predictor/model/code_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "formats/elf/function_names.h"
#include "formats/elf/library_code.h"
#include "formats/elf/source_lines.h"
#include "formats/recording/recorded_symbols.h"

namespace reweave {
namespace {

std::string frame_text(const SourceFrame& frame, const std::string& fallback) {
  std::string result = frame.function.empty() ? fallback : short_name(frame.function);
  if (frame.file.empty()) return result;
  // A path relative to the current folder if the file is in it.
  const std::filesystem::path file = std::filesystem::path(frame.file).lexically_normal();
  std::error_code error;
  const std::filesystem::path near = file.lexically_relative(std::filesystem::current_path(error));
  const bool inside = !error && !near.empty() && *near.begin() != "..";
  return result + " at " + (inside ? near : file).string() + ":" + std::to_string(frame.line);
}

// The innermost function that is the user's; the innermost of all if none is. There is at least one.
std::size_t shown_frame(const CodeSymbol& code) {
  const auto own =
      std::ranges::find_if(code.frames, [](const SourceFrame& frame) { return !is_of_library(frame.file); });
  return own == code.frames.end() ? 0 : static_cast<std::size_t>(own - code.frames.begin());
}

}  // namespace

CodeNames::CodeNames(const TraceReader& trace)
    : trace_(trace), symbols_(symbol_files(RecordedFiles::of_source(trace.info().header.source))) {}

const ModuleInfo* CodeNames::module(std::uint32_t site) const {
  const SiteLocation place = trace_.site_location(site);
  return place.module == kNoModule ? nullptr : &trace_.info().modules[place.module];
}

const CodeSymbol& CodeNames::symbol(std::uint32_t site) {
  const CodeSymbol*& known = known_[site];
  if (known == nullptr) {
    const ModuleInfo* in = module(site);
    const std::uint64_t offset = trace_.site_location(site).offset;
    known = &symbols_.code(in ? in->path : "", in ? in->build_id : "", offset);
  }
  return *known;
}

CodeSite CodeNames::site(std::uint32_t site) {
  CodeSite result;
  if (const ModuleInfo* in = module(site)) {
    result.module = in->path;
    result.build_id = in->build_id;
  }
  result.offset = trace_.site_location(site).offset;
  const CodeSymbol& code = symbol(site);
  if (code.frames.empty()) return result;
  result.file = code.frames[0].file;
  result.line = static_cast<std::uint32_t>(code.frames[0].line);
  result.function = code.frames[0].function;
  return result;
}

std::string CodeNames::text(std::uint32_t site) {
  const CodeSymbol& code = symbol(site);
  return code.frames.empty() ? code.fallback : frame_text(code.frames[shown_frame(code)], code.fallback);
}

std::vector<std::string> CodeNames::inlined_into(std::uint32_t site) {
  const CodeSymbol& code = symbol(site);
  std::vector<std::string> result;
  if (code.frames.empty()) return result;
  for (std::size_t i = shown_frame(code) + 1; i < code.frames.size(); ++i)
    if (!is_of_library(code.frames[i].file)) result.push_back(frame_text(code.frames[i], code.fallback));
  return result;
}

std::string CodeNames::source_line(std::uint32_t site) {
  const CodeSymbol& code = symbol(site);
  if (code.frames.empty()) return "";
  const SourceFrame& shown = code.frames[shown_frame(code)];
  if (shown.file.empty() || shown.line < 1) return "";
  const auto& lines = lines_of(shown.file);
  const auto number = static_cast<std::size_t>(shown.line);
  return number <= lines.size() ? std::string(trimmed(lines[number - 1])) : "";
}

const std::vector<std::string>& CodeNames::lines_of(const std::string& file) {
  auto [it, fresh] = files_.try_emplace(file);
  if (fresh) it->second = source_lines(file);
  return it->second;
}

bool CodeNames::of_runtime(std::uint32_t site) {
  const ModuleInfo* in = module(site);
  if (in == nullptr) return trace_.pc_of(site) == 0;
  const std::string name = std::filesystem::path(in->path).filename();
  return name == "libreweave.so" || name == "libreweave-tsan.so";
}

bool CodeNames::starts_thread(std::uint32_t site) {
  if (module(site) == nullptr) return false;
  const CodeSymbol& code = symbol(site);
  const std::string name = code.frames.empty() ? code.fallback : code.frames.back().function;
  return of_runtime(site) ? name.find("run_thread") != name.npos : name == "main";  // recorder/shim/thread.cc
}

std::string CodeNames::data(std::uint64_t address) {
  auto [it, fresh] = data_.try_emplace(address);
  if (!fresh) return it->second;
  // A module's data follow its code, so the module is the nearest one below the address.
  const ModuleInfo* nearest = nullptr;
  for (const ModuleInfo& module : trace_.info().modules) {
    if (module.base <= address && (nearest == nullptr || nearest->base < module.base)) nearest = &module;
  }
  if (nearest == nullptr) return "";
  const DataSymbol found = symbols_.data(nearest->path, nearest->build_id, address - nearest->base);
  if (found.name.empty()) return "";
  it->second = found.text();
  return it->second;
}

}  // namespace reweave
