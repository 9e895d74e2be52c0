#include "replayer/live/gdb_signals.h"

#include <csignal>

namespace reweave {

namespace {

struct Pair {
  int host, gdb;
};
// Numbers from gdb's include/gdb/signals.def; signals that are missing here have the same number in both.
constexpr Pair kPairs[] = {{SIGBUS, 10},  {SIGUSR1, 30},   {SIGUSR2, 31}, {SIGCHLD, 20},  {SIGCONT, 19},
                           {SIGSTOP, 17}, {SIGTSTP, 18},   {SIGURG, 16},  {SIGIO, 23},    {SIGXCPU, 24},
                           {SIGXFSZ, 25}, {SIGVTALRM, 26}, {SIGPROF, 27}, {SIGWINCH, 28}, {SIGPWR, 32},
                           {SIGSYS, 12},  {SIGSTKFLT, 143}};
constexpr int kFirstRealTime = 33, kLastRealTime = 63, kRealTimeOffset = 12;  // 33 to 63 are 45 to 75
constexpr Pair kOtherRealTime[] = {{32, 77}, {64, 78}};

}  // namespace

int gdb_signal(int host) {
  for (const Pair& pair : kPairs)
    if (pair.host == host) return pair.gdb;
  for (const Pair& pair : kOtherRealTime)
    if (pair.host == host) return pair.gdb;
  return host >= kFirstRealTime && host <= kLastRealTime ? host + kRealTimeOffset : host;
}

int host_signal(int gdb) {
  for (const Pair& pair : kPairs)
    if (pair.gdb == gdb) return pair.host;
  for (const Pair& pair : kOtherRealTime)
    if (pair.gdb == gdb) return pair.host;
  const int host = gdb - kRealTimeOffset;
  return host >= kFirstRealTime && host <= kLastRealTime ? host : gdb;
}

}  // namespace reweave
