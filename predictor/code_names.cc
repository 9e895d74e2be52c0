#include "predictor/code_names.h"

#include <fmt/format.h>

#include <filesystem>

#include "formats/recorded_symbols.h"
#include "formats/source_lines.h"

namespace reweave {
namespace {

std::string frame_text(const SourceFrame& frame, const std::string& fallback) {
  std::string result = frame.function.empty() ? fallback : frame.function;
  if (frame.file.empty()) return result;
  // As short as it still can be found from here.
  const std::filesystem::path file = std::filesystem::path(frame.file).lexically_normal();
  std::error_code error;
  const std::filesystem::path near = file.lexically_relative(std::filesystem::current_path(error));
  const bool inside = !error && !near.empty() && *near.begin() != "..";
  return result + " at " + (inside ? near : file).string() + ":" + std::to_string(frame.line);
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
  return code.frames.empty() ? code.fallback : frame_text(code.frames[0], code.fallback);
}

std::vector<std::string> CodeNames::inlined_into(std::uint32_t site) {
  const CodeSymbol& code = symbol(site);
  std::vector<std::string> result;
  for (std::size_t i = 1; i < code.frames.size(); ++i) result.push_back(frame_text(code.frames[i], code.fallback));
  return result;
}

std::string CodeNames::source_line(std::uint32_t site) {
  const CodeSymbol& code = symbol(site);
  if (code.frames.empty() || code.frames[0].file.empty() || code.frames[0].line < 1) return "";
  const auto& lines = lines_of(code.frames[0].file);
  const auto number = static_cast<std::size_t>(code.frames[0].line);
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
  // A module's data follow its code: look in the nearest one below.
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
