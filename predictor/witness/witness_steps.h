// Witnesses for an explorer: the schedule points of the trace in the witness's order, including events that the model
// dropped.
//
// A thread runs its events in the order of the trace. So a witness consists of the trace up to some event, and of turns
// of threads after it, each up to some event of the thread. Dropped events are run with the thread's next kept event,
// because accesses to data that only one thread uses may happen at any time.
//
// If the trace shows the event at which the program entered main, witnesses begin there, as explored runs do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/trace/candidates.h"
#include "predictor/model/trace_input.h"
#include "predictor/witness/finding.h"

namespace reweave {

class WitnessSteps {
 public:
  struct Limits {
    std::uint64_t steps = 20'000;         // per witness
    std::uint64_t all_steps = 1'000'000;  // in total, because the file is one message
  };

  // Reads the trace again. `input` must outlive this.
  WitnessSteps(TraceInput& input, const TraceModel& model, std::span<const Finding> findings)
      : WitnessSteps(input, model, findings, Limits{}) {}
  WitnessSteps(TraceInput& input, const TraceModel& model, std::span<const Finding> findings, Limits limits);

  // Fills in the witness of the finding number `index`, and the turns that lead to its beginning.
  void fill(std::size_t index, Candidate& candidate) const;

 private:
  // The thread runs its events numbered below `end`.
  struct Turn {
    ThreadId thread;
    std::uint64_t end;
  };
  struct Plan {
    std::uint64_t first = 0;  // first event of the trace whose steps are kept
    std::uint64_t start = 0;  // events below this one run in the order of the trace
    std::uint64_t end = 0;    // no event from here on is run
    std::vector<Turn> turns;
  };
  struct Step {
    std::uint64_t address;
    std::uint32_t number;
    std::uint32_t site;
    ThreadId thread;
    EventKind kind;
  };
  // The turns of the trace up to some event: the first `whole` of turns_, then `last`.
  struct Beginning {
    std::uint64_t number;  // of the event
    std::size_t whole = 0;
    WitnessTurn last = {};  // none if it has no arrivals
  };

  static Plan plan(const TraceModel& model, const Finding& finding);
  void collect();
  WitnessStep step(const Step& from) const;
  std::uint64_t pc_of(std::uint32_t site) const;

  TraceInput& input_;
  std::vector<Plan> plans_;
  std::vector<Step> steps_;                            // by number: those in some plan's [first, end)
  std::vector<std::vector<std::uint32_t>> of_thread_;  // indices into steps_
  std::vector<WitnessTurn> turns_;                     // of the trace, from main on
  std::vector<Beginning> beginnings_;                  // by number
  std::uint64_t limit_ = 0;
};

}  // namespace reweave
