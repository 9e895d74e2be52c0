// Looks for races in the run of a recording, as ThreadSanitizer would have, and prints its reports.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "predictor/races/suppressions.h"
#include "predictor/races/tsan_options.h"
#include "predictor/recording_trace.h"

namespace reweave {

// What TSAN_OPTIONS asks for. Throws BadInput if something of it cannot be used.
struct RaceOptions {
  TsanOptions tsan;
  Suppressions suppressions;

  static RaceOptions of_environment(const char* text);
};

struct TsanReport {
  std::uint16_t process = 0;
  std::int64_t pid = 0;
  std::string text;     // ThreadSanitizer's
  std::string summary;  // "data race file.c:12 in f"
  // What is the same for the same bug in another run: "data race in f (file.c:12) and g (file.c:20)".
  std::string key;
};

struct TsanReports {
  std::vector<TsanReport> reports;            // without those that are suppressed
  bool is_instrumented = false;               // a program of the run was; else nothing can be said
  std::vector<Suppressions::Row> suppressed;  // that matched
};

TsanReports find_races(const std::string& trace, const RaceOptions& options);

// Of a recording.
struct RaceVerdict {
  std::uint64_t reports = 0;
  // The status that says so, instead of a run's own of 0 (`if_passed`) or whatever it ended with (`always`); 0: none.
  int always = 0, if_passed = 0;
};

// Prints the reports to where TSAN_OPTIONS says, and what could not be looked at to the standard error.
RaceVerdict report_races(const std::string& recording, const RaceOptions& options, const TraceMaker& maker,
                         const std::function<void(std::uint64_t events)>& progress);

}  // namespace reweave
