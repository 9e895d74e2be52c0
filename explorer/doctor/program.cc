#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "explorer/doctor/check.h"
#include "explorer/doctor/elf_facts.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/source_lines.h"
#include "formats/recording/test_framework.h"
#include "recorder/supervisor/target/program_check.h"

namespace reweave {

namespace {

// The first line of a script, without its #!; empty if the file is not a script.
std::string interpreter_of(const Fd& file) {
  std::array<char, 256> head = {};
  const ssize_t n = pread(file.get(), head.data(), head.size(), 0);
  const std::string_view text(head.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.starts_with("#!") ? std::string(trimmed(text.substr(2, text.find('\n') - 2))) : "";
}

Check check_linking(const ElfFacts& facts) {
  if (facts.is_dynamic) return {"linking", Verdict::kOk, "dynamic: Reweave sees each lock operation", ""};
  return {"linking", Verdict::kWarn, "static: Reweave sees only lock operations that make system calls to wait or wake",
          "link it dynamically to have more schedules searched"};
}

// Finds out where the debug information is: in the program, or in a separate file named by build-id or link.
Check check_debug(const ElfFacts& facts, const std::string& build_id) {
  if (facts.has_debug_information()) {
    std::string text = facts.is_compressed ? "DWARF, compressed" : "DWARF";
    if (facts.is_split) text += ", split: the .dwo files have to stay where they are";
    return {"debug information", Verdict::kOk, text, ""};
  }
  if (facts.names_debug_file())
    return {"debug information", Verdict::kWarn, fmt::format("in a file of its own, build-id {}", build_id),
            "install its -dbgsym package, or set DEBUGINFOD_URLS"};
  return {"debug information", Verdict::kWarn, "none: reports name no lines", "build with -g"};
}

Check check_instrumentation(const ElfFacts& facts) {
  std::string others;
  for (const std::string& sanitizer : facts.sanitizers)
    if (sanitizer != "thread") others += (others.empty() ? "" : ", ") + sanitizer;
  if (!others.empty()) others = "; -fsanitize=" + others;
  if (facts.sanitizers.contains("thread"))
    return {"instrumentation", Verdict::kOk, "-fsanitize=thread: each memory access is a schedule point" + others, ""};
  if (facts.has(".note.reweave"))
    return {"instrumentation", Verdict::kOk,
            "reweave-cc: each memory access is a schedule point of explored runs" + others, ""};
  return {"instrumentation", Verdict::kWarn, "none: memory accesses are not schedule points" + others,
          "build with reweave-cc or -fsanitize=thread to search and check accesses as well"};
}

Check check_framework(const std::string& path) {
  const TestFramework* framework = framework_of(path);
  return {"test framework", Verdict::kOk,
          framework == nullptr ? "none that is known"
                               : fmt::format("{}: `reweave hunt --case NAME` runs one case", framework->name),
          ""};
}

}  // namespace

std::vector<Check> check_program(const std::string& name) {
  std::string path;
  try {
    path = find_program(name);
  } catch (const BadInput& error) {
    return {{"program", Verdict::kFail, error.what(), ""}};
  }
  const Fd file = open_regular(path);
  if (const std::string interpreter = interpreter_of(file); !interpreter.empty())
    return {{"program", Verdict::kOk, fmt::format("{}, a script for {}", path, interpreter), ""}};
  const ElfFacts facts = facts_of(file);
  return {{"program", Verdict::kOk, path + ", x86-64", ""},
          check_linking(facts),
          check_debug(facts, build_id_of(file)),
          check_instrumentation(facts),
          check_framework(path)};
}

}  // namespace reweave
