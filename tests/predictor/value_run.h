// Executes reorderings of a trace with values, to verify what the witness checker promises: no thread decides anything
// by a value that it did not have in the trace.
//
// The program of a trace is made up: each write stores a value of its own, mixed with all values that its thread read
// and that the write may depend on. If these are as in the trace, and the trace says what the write stored, it stores
// that. So two values are equal only where they must be. It uses no taint rules.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "predictor/model/trace_model.h"
#include "predictor/witness/witness_check.h"

namespace reweave::testing {

class ValueRun {
 public:
  ValueRun(const TraceModel& model, ReadRule rule);

  // True if all decisions of threads in this order, up to their last events and before the stops, use the values of the
  // trace.
  bool decides_alike(const std::vector<EventIndex>& order, const std::vector<EventIndex>& stops) const;

 private:
  struct State {
    std::unordered_map<std::uint32_t, std::uint64_t> memory;  // by variable
    std::vector<std::uint64_t> read, read_data;               // by thread: values of deciding reads, and of others
    std::vector<bool> misled;                                 // by thread: a read had another value than in the trace
  };

  State initial() const;
  bool decides(EventIndex e) const;
  // Returns the value that `e` reads, if it reads.
  std::uint64_t read(State& state, EventIndex e) const;
  void write(State& state, EventIndex e) const;
  std::uint64_t sources(const State& state, EventIndex e) const;

  const TraceModel& model_;
  ReadRule rule_;
  std::vector<std::uint64_t> values_;  // of the reads of the trace
  std::vector<std::uint64_t> mixed_;   // of its writes: what they are mixed from
};

}  // namespace reweave::testing
