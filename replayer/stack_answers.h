// Answers a traced target's requests for its call stacks (recorder/stack_cache.h).
#pragma once

#include <map>

#include "formats/trace/trace_writer.h"
#include "recorder/supervisor/ring/arena_memory.h"
#include "recorder/supervisor/target/unwinder.h"

namespace reweave {

class StackAnswers {
 public:
  StackAnswers(ArenaMemory& arena, TraceWriter& trace) : arena_(arena), trace_(trace) {}

  // Call when the target waits for an answer (ArenaMemory::stack_asked) and everything it wrote before is in the trace.
  void answer();

 private:
  struct KnownSpace {
    CodeSpace space;
    std::unique_ptr<Unwinder> unwinder;
  };
  Unwinder& unwinder_of(const CodeSpace& space);
  void keep(const StackRequest& request);

  ArenaMemory& arena_;
  TraceWriter& trace_;
  std::map<std::uint32_t, KnownSpace> spaces_;  // by process
  CallStack stack_;
  bool warned_ = false;
};

}  // namespace reweave
