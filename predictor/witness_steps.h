// Witnesses as an explorer needs them: the schedule points of the trace in the witness's order, those of events that
// the model dropped included.
//
// A thread runs its events in the order of the trace, so a witness is: the trace up to some event, then turns of
// threads, each up to some event of the thread. Events that the model dropped are run with the thread's next event that
// it kept: what only one thread touches may happen at any time.
//
// Where a trace tells that the program entered main, witnesses begin there, for so do explored runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/candidates.h"
#include "predictor/finding.h"
#include "predictor/trace_input.h"

namespace reweave {

// A thread may be stopped before such an event, and is asked for nothing else in between.
bool is_schedule_point(const TraceEvent& event);

class WitnessSteps {
 public:
  struct Limits {
    std::uint64_t steps = 200'000;        // of one witness
    std::uint64_t all_steps = 1'000'000;  // of all; the file is one message
  };

  // Reads the trace once more.
  WitnessSteps(TraceInput& input, const TraceModel& model, std::span<const Finding> findings)
      : WitnessSteps(input, model, findings, Limits{}) {}
  WitnessSteps(TraceInput& input, const TraceModel& model, std::span<const Finding> findings, Limits limits);

  // Fills in the witness of the finding number `index`, and what was left out of it. Its sites are the trace's.
  void fill(std::size_t index, Candidate& candidate) const;

 private:
  // The thread runs its events numbered below `end`.
  struct Turn {
    ThreadId thread;
    std::uint64_t end;
  };
  struct Plan {
    std::uint64_t first = 0;  // of the trace's events kept
    std::uint64_t start = 0;  // events below are run in the order of the trace
    std::uint64_t end = 0;    // no event from here on is run
    std::vector<Turn> turns;
  };
  struct Step {
    std::uint64_t address;
    std::uint32_t number;
    std::uint32_t site;
    std::uint32_t occurrence;
    ThreadId thread;
    EventKind kind;
  };

  static Plan plan(const TraceModel& model, const Finding& finding);
  void collect(TraceInput& input);
  WitnessStep step(const Step& from) const;
  // Candidate::turns for the first `cut` of `steps`, which are all that is not in the trace's order.
  std::vector<WitnessStep> turns(std::span<const WitnessStep> steps, std::uint64_t cut) const;

  std::vector<Plan> plans_;
  std::vector<Step> steps_;                            // by number: those in some plan's [first, end)
  std::vector<std::vector<std::uint32_t>> of_thread_;  // indices into steps_
  std::vector<std::uint64_t> before_;                  // by plan: schedule points below its `first`
  std::uint64_t limit_ = 0;
};

}  // namespace reweave
