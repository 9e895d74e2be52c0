// Names for the code locations and addresses of a trace: functions, source lines, global variables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/elf/symbols.h"
#include "formats/trace/candidates.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

class CodeNames {
 public:
  // `trace` must outlive it.
  explicit CodeNames(const TraceReader& trace);

  CodeSite site(std::uint32_t site);
  // "function at file:line", or "module+0x1234". Of inlined functions, the innermost one that is not a library's.
  std::string text(std::uint32_t site);
  // The same for the functions that this one was inlined into, innermost first, without those of libraries.
  std::vector<std::string> inlined_into(std::uint32_t site);
  // The text of the source line, without the white space around it; empty if the file cannot be read.
  std::string source_line(std::uint32_t site);
  // True if the place is in Reweave's libraries in the target, which mean nothing to the user.
  bool of_runtime(std::uint32_t site);
  // True if the place is in main, or is the call of a thread's function by Reweave's library.
  bool starts_thread(std::uint32_t site);

  // The global variable at an address: "name", "name+8"; empty if there is none.
  std::string data(std::uint64_t address);

 private:
  const CodeSymbol& symbol(std::uint32_t site);
  const ModuleInfo* module(std::uint32_t site) const;
  const std::vector<std::string>& lines_of(const std::string& file);

  const TraceReader& trace_;
  Symbols symbols_;
  std::unordered_map<std::uint32_t, const CodeSymbol*> known_;
  std::map<std::string, std::vector<std::string>> files_;
  std::unordered_map<std::uint64_t, std::string> data_;
};

}  // namespace reweave
