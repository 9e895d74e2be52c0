// A finding as ThreadSanitizer prints it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predictor/races/race_finding.h"
#include "predictor/races/race_places.h"
#include "predictor/races/tsan_options.h"

namespace reweave {

class RaceText {
 public:
  // All must outlive it.
  RaceText(const TraceReader& trace, const RaceFindings& findings, RacePlaces& places, const TsanOptions& options)
      : trace_(trace), findings_(findings), places_(places), options_(options) {}

  // Lines from "=====" to "=====".
  std::string report(const RaceFinding& finding);
  // "data race file.c:12 in f", as after "SUMMARY: ThreadSanitizer: ".
  std::string summary(const RaceFinding& finding);
  std::int64_t pid_of(std::uint16_t process) const;

 private:
  std::string stack(const NamedPlace& place);
  std::string access(const RacingAccess& access, bool first);
  std::string location(const RaceFinding& finding);
  std::string lock_order(const RaceFinding& finding);
  std::string thread(const RaceFinding& finding, ThreadId thread);
  std::string name_of_thread(ThreadId thread) const;
  std::string lock_name(std::uint32_t lock);
  std::string place_of(const ReportFrame& frame) const;

  const TraceReader& trace_;
  const RaceFindings& findings_;
  RacePlaces& places_;
  const TsanOptions& options_;
  std::vector<std::uint32_t> locks_;  // of the current report, in the order of their numbers
};

}  // namespace reweave
