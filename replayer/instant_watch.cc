#include "replayer/instant_watch.h"

#include <fmt/format.h>
#include <time.h>

namespace reweave {

namespace {

// Limits the replayed thread's processor time since its last pass of the instruction. The recorded thread had computed
// for stalled_ms. Between two passes a replay runs at nearly the same speed. The limits leave room for slower machines
// and for code that is replayed at another address.
constexpr std::int64_t kLeastMs = 10'000, kTimesAsLong = 200;
// The recorded thread cannot have reached one instruction more often than five times a nanosecond. The supervisor may
// have started to measure stalled_ms some tenths of a second late.
constexpr std::uint64_t kLeastPasses = std::uint64_t{1} << 30, kPassesPerMs = 5'000'000;

// The processor time of the process in milliseconds; -1 if it has ended. Only the thread with the baton computes, so
// this is also the time of that thread.
std::int64_t processor_time(pid_t process) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

std::string InstantWatch::look() {
  const RunStatus& status = arena_.header().status;
  const SoughtInstant& sought = status.sought;
  const std::uint32_t thread = sought.thread.load(std::memory_order_acquire);
  if (thread == 0 || thread > kMaxThreads) {
    last_ = {};
    return {};
  }
  const RuntimeState& state = arena_.state();
  const std::int64_t now = processor_time(state.processes[state.threads[thread - 1].process % kMaxProcesses].real_pid);
  const Search search = {thread, status.event.load(), sought.passes.load(std::memory_order_relaxed)};
  const std::uint64_t stalled = sought.stalled_ms & wire::kMostStalled;
  if (search != last_) {
    last_ = search;
    since_ = now;
  }
  const std::int64_t spent = now - since_;
  const bool too_long = now >= 0 && spent > kLeastMs + static_cast<std::int64_t>(stalled) * kTimesAsLong;
  const bool too_often = search.passes > kLeastPasses + stalled * kPassesPerMs;
  if (!too_long && !too_often) return {};
  std::string text = fmt::format(
      "thread {} at event {}\n  expected: it is preempted at {:#x}, which it reached within {} ms when it was "
      "recorded\n"
      "  got:      it was there {} times in another state, and not again in its last {} s",
      thread - 1, search.event, sought.ip, stalled, search.passes, spent / 1000);
  if (const std::uint64_t page = sought.other_page.load(std::memory_order_relaxed); page != 0)
    text += fmt::format("; its memory at {:#x} differed", page);
  return text;
}

}  // namespace reweave
