#include "recorder/supervisor/target/watchdog.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

#include "recorder/live_threads.h"
#include "recorder/supervisor/process/proc_folder.h"
#include "recorder/supervisor/target/baton.h"
#include "recorder/supervisor/target/core_signal.h"

namespace reweave {

namespace {

// The time until the first check of a stalled holder. It doubles for each next check, up to a limit, because a
// computing holder must give way at some point.
constexpr std::chrono::milliseconds kFirstLook{10}, kMostBetween{150};

// kTimeSlice: the slice of a thread that reaches schedule points so rarely that it takes long to count enough of them.
// kShortSlice: the slice of a thread whose last kSpunSlices slices ended at one place, where it probably waits for
// others.
constexpr std::chrono::milliseconds kTimeSlice{4}, kShortSlice{1};
constexpr std::uint32_t kSpunSlices = 2;

// The longest sleep of the supervisor while another thread could run, and the longest one if the holder also spins.
// Otherwise it is kLongestIdleMs.
constexpr int kContendedIdleMs = 2, kSpinningIdleMs = 1;

// The state according to proc(5); 0: the thread does not exist.
char state_of(std::int32_t process, std::int32_t thread) {
  std::ifstream status(proc_folder(process, thread) + "/stat");
  std::string line;
  std::getline(status, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() ? line[name_end + 2] : '\0';
}

bool could_run(const Thread& thread) {
  const ThreadState state = thread.state.load();
  return state == ThreadState::kReady || (state == ThreadState::kBlocked && thread.expired.load() != 0);
}

bool spins(const Thread& thread) { return thread.spun_slices >= kSpunSlices; }

}  // namespace

int Watchdog::look() {
  RuntimeState& state = arena_.state();
  const std::uint32_t holder = state.holder.load();
  if (holder == 0) return kAsleepIdleMs;
  if (holder > kMaxThreads) return kLongestIdleMs;
  Thread& thread = state.threads[holder - 1];
  look_for_stall(state, holder, thread);
  if (!look_at_slice(state, holder, thread)) return sleeps_long(state, thread) ? kAsleepIdleMs : kLongestIdleMs;
  return spins(thread) ? kSpinningIdleMs : kContendedIdleMs;
}

// True if the only thread that could run sleeps in a call, with the baton.
bool Watchdog::sleeps_long(const RuntimeState& state, const Thread& holder) const {
  if (Clock::now() - since_ < std::chrono::seconds(1)) return false;
  const char doing = state_of(state.processes[holder.process % kMaxProcesses].real_pid, holder.real_tid);
  return doing == 'S' || doing == 'D';
}

// True if another thread could run.
bool Watchdog::look_at_slice(RuntimeState& state, std::uint32_t holder, const Thread& thread) {
  const Turn now = {holder, state.turns};
  if (now != turn_) {
    turn_ = now;
    turn_since_ = Clock::now();
    return somebody_could_run();
  }
  if (!somebody_could_run()) return false;
  if (Clock::now() - turn_since_ < (spins(thread) ? kShortSlice : kTimeSlice)) return true;
  turn_since_ = Clock::now();
  // Sends one signal at a time: a thread without a processor would find all of them pending, and handle them nested in
  // each other.
  if (state.slice_over.load() == kSliceTold) return true;
  state.slice_over.store(kSliceTold);
  if (!signal(thread, kSliceOverValue)) state.slice_over.store(0);
  return true;
}

void Watchdog::look_for_stall(RuntimeState& state, std::uint32_t holder, Thread& thread) {
  const Progress now = {holder, state.step, points_left(thread), arena_.header().out.head.load()};
  if (now != last_) {
    last_ = now;
    since_ = Clock::now();
    next_ = kFirstLook;
    return;
  }
  const auto stalled = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since_);
  if (stalled < next_ || !worth_waking(thread)) return;
  next_ = stalled + std::min(stalled, kMostBetween);
  state.stalled_ms.store(static_cast<std::uint32_t>(stalled.count()));
  if (thread.lends.load() == kMayTake)
    relieve(state, thread);
  else
    signal(thread, kWatchdogValue);
}

// Takes the baton from a holder that sleeps in its call, because it may be waiting for another thread.
void Watchdog::relieve(RuntimeState& state, Thread& holder) {
  const char doing = state_of(state.processes[holder.process % kMaxProcesses].real_pid, holder.real_tid);
  if (doing != 0 && doing != 'R' && somebody_could_run()) take_lent_baton(state, holder);
}

bool Watchdog::worth_waking(const Thread& holder) const { return holder.queued.load() != 0 || somebody_could_run(); }

bool Watchdog::somebody_could_run() const {
  const RuntimeState& state = arena_.state();
  for (const Thread& thread : awake_threads(state))
    if (could_run(thread)) return true;
  return false;
}

// Signals only a thread that runs. A thread that sleeps in the kernel either returns soon, or waits for something that
// a signal cannot bring about.
bool Watchdog::signal(const Thread& holder, std::uint64_t value) const {
  const std::int32_t process = arena_.state().processes[holder.process % kMaxProcesses].real_pid;
  if (process <= 1 || holder.real_tid <= 1 || state_of(process, holder.real_tid) != 'R') return false;
  return signal_core(process, holder.real_tid, value);
}

}  // namespace reweave
