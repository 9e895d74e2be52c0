// The truth about small traces by the rules of threads alone: executes the trace's events in every order that a program
// could have had. It knows nothing of the predictor's model, so it also reveals faults in what the model leaves out or
// orders. Takes exponential time, so only for about twenty events. Variables are whole words, named by their address.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "formats/event.h"

namespace reweave::testing {

// Like OrderQuery, with numbers of trace events.
struct RunQuery {
  std::vector<std::size_t> sequence, stops;
};

class RunOracle {
 public:
  // `carries[i]`: event i is a read that decides nothing. Barriers wait for `barrier` threads. Semaphores begin with
  // the least value that the trace allows, kernel objects with no message.
  RunOracle(const std::vector<TraceEvent>& events, std::vector<bool> carries, std::uint32_t barrier);

  bool feasible(const RunQuery& query) const;
  // Explores all orders once, for many questions without a sequence.
  void explore();
  // After explore().
  bool can_stop_before(const std::vector<std::size_t>& stops) const;

 private:
  enum class Waiting : std::uint8_t { kNo, kYes, kNotified };
  struct State {
    std::vector<std::uint32_t> done;        // per thread
    std::vector<std::uint32_t> written;     // per variable: (event + 1) * 2 + tainted, or 0
    std::vector<std::uint32_t> generation;  // per thread: of its last entry to a barrier
    std::vector<Waiting> waiting;           // per thread
    std::vector<bool> tainted, misled;      // per thread: writes other values; may not decide
    std::uint32_t entries = 0;              // to the barrier

    std::vector<std::uint32_t> key() const;
  };

  State initial() const;
  bool executed(const State& state, std::size_t event) const {
    return state.done[events_[event].thread] > place_[event];
  }
  bool started(const State& state, ThreadId thread) const;
  bool may_decide(const State& state, std::size_t event) const;
  bool enabled(const State& state, std::size_t event) const;
  bool lock_free(const State& state, std::uint64_t address, bool shared) const;
  std::int64_t semaphore(const State& state, std::uint64_t address) const;
  void read(State& state, std::size_t event) const;
  // Returns the states after the thread's next event: several if a notification may wake one of several threads.
  std::vector<State> after(const State& state, std::size_t event) const;
  bool stopped(const State& state, const std::vector<std::size_t>& stops) const;

  const std::vector<TraceEvent>& events_;
  std::vector<bool> carries_;
  std::uint32_t barrier_;
  bool has_branches_ = false;
  std::vector<std::vector<std::size_t>> threads_;
  std::vector<std::uint32_t> place_;                   // per event: in its thread
  std::vector<std::uint32_t> variable_;                // per access
  std::vector<std::uint32_t> from_;                    // per access that reads: what it read, as in State::written
  std::map<std::uint64_t, std::uint32_t> variables_;   // by address
  std::map<std::uint64_t, std::int64_t> first_value_;  // of semaphores
  std::vector<std::size_t> fork_of_;                   // per thread, or kNoEvent
  std::vector<State> reachable_;
};

}  // namespace reweave::testing
