// Resolves stacks and addresses of findings as ThreadSanitizer prints them.
#pragma once

#include <string>
#include <vector>

#include "formats/elf/symbols.h"
#include "formats/trace/trace_reader.h"
#include "predictor/races/race_finding.h"

namespace reweave {

struct ReportFrame {
  std::string function;  // empty if unknown
  std::string file;      // empty if unknown
  int line = 0;
  std::string module;  // path; empty if there is none
  std::uint64_t offset = 0;
};

struct GlobalVariable {
  std::string name;  // empty: none
  std::uint64_t address = 0, size = 0;
  std::string module;
  std::uint64_t offset = 0;
};

class RacePlaces {
 public:
  // Both must outlive it.
  RacePlaces(const TraceReader& trace, const RaceFindings& findings);

  // Innermost first; the callers of main, or of a thread's function, are left out.
  std::vector<ReportFrame> frames(const NamedPlace& place);
  GlobalVariable global(std::uint64_t address);
  // The path of the module that a site is in; empty if there is none.
  const std::string& module_of(std::uint32_t site) const;

 private:
  bool add_frames(std::uint32_t site, std::vector<ReportFrame>& frames);

  const TraceReader& trace_;
  const RaceFindings& findings_;
  Symbols symbols_;
};

const char* name_of(TopFunction function);
std::string file_name(const std::string& path);

}  // namespace reweave
