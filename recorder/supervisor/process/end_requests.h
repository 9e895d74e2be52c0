// Signals that ask `record` to end: SIGINT, SIGQUIT, SIGTERM and SIGHUP. They are passed on to the program, and the
// recording has how it ends.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <vector>

namespace reweave {

// From now on these signals no longer end this process, unless it was started with them ignored.
void receive_end_requests();
// The first of them received; 0: none.
int end_request();

// The number of signals from outside that the program has received so far, by signal number.
using TakenSignals = std::array<std::uint64_t, NSIG>;

// Passes requests on to the program. The program receives a signal to the whole process group by itself, and a second
// one could mean something else to it. So a signal is passed on only if the program does not receive it within a
// moment. Thread rule: one thread.
class SignalRelay {
 public:
  // Called regularly while `process`, the first one, runs.
  void look(pid_t process, const TakenSignals& taken);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    int number;
    Clock::time_point since;
    std::uint64_t taken;  // signals of that number that the program had received before
  };
  TakenSignals last_taken_ = {};
  std::vector<Waiting> waiting_;
};

}  // namespace reweave
