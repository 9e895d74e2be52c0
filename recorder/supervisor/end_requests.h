// Signals that ask `record` to end: SIGINT, SIGQUIT, SIGTERM and SIGHUP. The program is asked in turn, and how it ends
// is recorded.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <vector>

namespace reweave {

// From now on these signals end this process no more, unless it was started with them ignored.
void receive_end_requests();
// The first of them that came; 0: none has.
int end_request();

// How many signals from outside the program has taken so far, by number.
using TakenSignals = std::array<std::uint64_t, NSIG>;

// Passes requests on to the program. What was sent to the whole process group the program gets by itself, and a second
// one could mean something else to it: one is passed on only if the program does not take it within a moment. One
// thread.
class SignalRelay {
 public:
  // Called now and then while `process`, the first one, runs.
  void look(pid_t process, const TakenSignals& taken);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    int number;
    Clock::time_point since;
    std::uint64_t taken;  // of that number, before it came
  };
  TakenSignals last_taken_ = {};
  std::vector<Waiting> waiting_;
};

}  // namespace reweave
