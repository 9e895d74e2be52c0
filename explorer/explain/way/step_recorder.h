// Replays a part of a run with one thread instruction by instruction, and records its instrumented instructions.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "explorer/explain/way/executed_part.h"
#include "explorer/explain/way/history.h"
#include "explorer/explain/way/program_code.h"

namespace reweave {

class StepRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  // `main`: the address of the program's main function. The references must outlive this.
  StepRecorder(const std::string& recording, std::uint64_t main, ProgramCode& code, const AccessHistory& history,
               Clock::time_point deadline);
  ~StepRecorder();

  // Replays the run and records the instructions of one thread, from just after the access of history entry `from`
  // until the access of entry `until` is done. If `from` is kNone, starts at main or, for threads other than the first,
  // at the start of the function with the thread's first access. If `until` is kNone, records to the end of the run.
  // Throws Error if the replay is not possible.
  ExecutedPart record(ThreadId thread, std::size_t from, std::size_t until);

 private:
  class Replays;
  std::unique_ptr<Replays> replays_;
};

}  // namespace reweave
