// Finds races in a recorded run as ThreadSanitizer would have, and prints reports in its form.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "predictor/model/recording_trace.h"
#include "predictor/races/suppressions.h"
#include "predictor/races/tsan_options.h"

namespace reweave {

// The settings of TSAN_OPTIONS. of_environment throws BadInput if a value cannot be used.
struct RaceOptions {
  TsanOptions tsan;
  Suppressions suppressions;

  static RaceOptions of_environment(const char* text);
};

struct TsanReport {
  std::uint16_t process = 0;
  std::int64_t pid = 0;
  std::string text;     // the report in ThreadSanitizer's form
  std::string summary;  // "data race file.c:12 in f"
  // Equal for the same bug in other runs: "data race in f (file.c:12) and g (file.c:20)".
  std::string key;
};

struct TsanReports {
  std::vector<TsanReport> reports;            // without suppressed ones
  bool is_instrumented = false;               // at least one program of the run is; else races are not known
  std::vector<Suppressions::Row> suppressed;  // suppressions that matched
};

TsanReports find_races(const std::string& trace, const RaceOptions& options);

// The result for a recording.
struct RaceVerdict {
  std::uint64_t reports = 0;
  // Exit statuses that replace the run's own: `always` any status, `if_passed` only a status of 0; 0: none.
  int always = 0, if_passed = 0;
};

// Prints the reports where TSAN_OPTIONS says, and to standard error what could not be examined.
RaceVerdict report_races(const std::string& recording, const RaceOptions& options, const TraceMaker& maker,
                         const std::function<void(std::uint64_t events)>& progress);

}  // namespace reweave
