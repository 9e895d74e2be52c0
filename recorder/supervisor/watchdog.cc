#include "recorder/supervisor/watchdog.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

namespace reweave {

namespace {

// The first look at a stalled holder; each next one after twice the time.
constexpr std::chrono::milliseconds kFirstLook{10};

// In the kernel it either returns soon, or waits for what no signal of ours can bring about.
bool is_running(std::int32_t process, std::int32_t thread) {
  std::ifstream status("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(status, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'R';
}

bool could_run(const Thread& thread) {
  const ThreadState state = thread.state.load();
  return state == ThreadState::kReady || (state == ThreadState::kBlocked && thread.expired.load() != 0);
}

}  // namespace

void Watchdog::look() {
  RuntimeState& state = arena_.state();
  const std::uint32_t holder = state.holder.load();
  if (holder == 0 || holder > kMaxThreads) return;
  const Thread& thread = state.threads[holder - 1];
  const Progress now = {holder, state.step, thread.countdown, arena_.header().out.head.load()};
  if (now != last_) {
    last_ = now;
    since_ = Clock::now();
    next_ = kFirstLook;
    return;
  }
  const auto stalled = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since_);
  if (stalled < next_ || !worth_waking(thread)) return;
  next_ = stalled * 2;
  state.stalled_ms.store(static_cast<std::uint32_t>(stalled.count()));
  signal(thread);
}

bool Watchdog::worth_waking(const Thread& holder) const {
  if (holder.queued.load() != 0) return true;
  const RuntimeState& state = arena_.state();
  for (std::uint32_t i = 0; i < std::min(state.live_threads, kMaxThreads); i++)
    if (state.live[i] < kMaxThreads && could_run(state.threads[state.live[i]])) return true;
  return false;
}

void Watchdog::signal(const Thread& holder) const {
  const std::int32_t process = arena_.state().processes[holder.process % kMaxProcesses].real_pid;
  if (process <= 1 || holder.real_tid <= 1 || !is_running(process, holder.real_tid)) return;
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(kWatchdogValue);  // NOLINT: a number in a pointer's place
  syscall(SYS_rt_tgsigqueueinfo, process, holder.real_tid, kWatchdogSignal, &info);
}

}  // namespace reweave
