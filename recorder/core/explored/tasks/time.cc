#include "recorder/core/explored/tasks/time.h"

#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/explored/model_memory.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Initial values of clocks that the recorded run did not read.
constexpr std::int64_t kUnseenRealtime = 1'700'000'000 * kSecond;
constexpr std::int64_t kUnseenMonotonic = 1'000 * kSecond;

enum Kind { kMonotonic, kRealtime, kProcessor, kKinds };
// Added to the modelled time, which is CLOCK_MONOTONIC's. Per process, and equal in all runs.
IN_MODEL std::int64_t offsets[kKinds];
IN_MODEL bool known[kKinds];

Kind kind_of(long clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
      return kRealtime;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
      return kMonotonic;
    default:
      return kProcessor;
  }
}

void start() {
  std::int64_t& now = state().virtual_now;
  if (now == 0) now = kUnseenMonotonic;
  if (!known[kRealtime]) offsets[kRealtime] = kUnseenRealtime - now;
  if (!known[kProcessor]) offsets[kProcessor] = -now;
  known[kRealtime] = known[kProcessor] = true;
}

std::int64_t nanoseconds_at(long address, std::int64_t unit) {
  const auto* time = reinterpret_cast<const std::int64_t*>(address);
  return time[0] * kSecond + time[1] * unit;
}

// Returns the clock that `record` read and sets `shown` to the time that it showed; -1 if it read none.
long clock_read(const wire::RecordHeader* record, std::int64_t& shown) {
  if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kClock)) {
    const auto& reading = wire::record_cast<wire::ClockRecord>(*record);
    shown = reading.time;
    return reading.clock == wire::kTimeOfDay ? CLOCK_REALTIME : static_cast<long>(reading.clock);
  }
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) return -1;
  const auto& call = wire::record_cast<wire::SyscallRecord>(*record);
  const auto* chunk = reinterpret_cast<const wire::OutputChunk*>(&call + 1);
  if (call.number != SYS_clock_gettime || call.result != 0) return -1;
  if (record->bytes < sizeof call + sizeof *chunk + 16) return -1;
  shown = nanoseconds_at(reinterpret_cast<long>(chunk + 1), 1);
  return static_cast<long>(call.args[0]);
}

std::int64_t after(std::int64_t nanoseconds) { return state().virtual_now + nanoseconds; }

}  // namespace

void learn_clock(const wire::RecordHeader* record) {
  std::int64_t shown = 0;
  const long clock = clock_read(record, shown);
  if (clock < 0) return;
  const Kind kind = kind_of(clock);
  if (known[kind]) return;
  // The first clock read sets the time; the others get offsets from it.
  std::int64_t& now = state().virtual_now;
  if (now == 0) now = kind == kMonotonic ? shown : kUnseenMonotonic;
  offsets[kind] = shown - now;
  known[kind] = true;
}

std::int64_t look_at_clock(long clock) {
  start();
  return (state().virtual_now += 1'000) + offsets[kind_of(clock)];
}

std::int64_t modelled_deadline(long clock, std::int64_t time) {
  start();
  return time - offsets[kind_of(clock)];
}

std::int64_t modelled_end(std::int64_t nanoseconds) {
  start();
  return after(nanoseconds);
}

std::int64_t end_of_sleep(const Call& call) {
  start();
  const CallPlaces& at = call.row->at;
  if (!is_sleep(*call.row)) return kNoDeadline;
  const std::int64_t time = nanoseconds_at(call.logged[at.limit], 1);
  const bool is_instant = at.flags >= 0 && (call.logged[at.flags] & TIMER_ABSTIME) != 0;
  return is_instant ? modelled_deadline(call.logged[at.clock], time) : after(time);
}

std::int64_t end_of_signal_wait(const Call& call) {
  start();
  return call.logged[2] == 0 ? kNoDeadline : after(nanoseconds_at(call.logged[2], 1));
}

std::int64_t end_of_poll(const Call& call) {
  constexpr std::uint64_t kPolls = kPollsList | kPollsSets | kPollsEvents;
  start();
  if ((call.row->flags & kPolls) == 0 || call.row->at.limit < 0) return kNoDeadline;
  const long limit = call.logged[call.row->at.limit];
  if ((call.row->flags & kMilliseconds) != 0)
    return static_cast<int>(limit) < 0 ? kNoDeadline : after(static_cast<int>(limit) * 1'000'000L);
  const std::int64_t unit = (call.row->flags & kMicroseconds) != 0 ? 1'000 : 1;
  return limit == 0 ? kNoDeadline : after(nanoseconds_at(limit, unit));
}

std::uint32_t report_nothing_ready(const Call& call, Output* to) {
  const bool of_sets = (call.row->flags & kPollsSets) != 0;
  const auto count = static_cast<std::uint64_t>(call.logged[of_sets ? 0 : 1]);
  std::uint32_t n = 0;
  if ((call.row->flags & kPollsList) != 0) {
    struct PollFd {
      int fd;
      std::int16_t asked, ready;
    };
    auto* list = reinterpret_cast<PollFd*>(call.logged[0]);
    for (std::uint64_t i = 0; i < count; i++) list[i].ready = 0;
    if (count > 0) to[n++] = {static_cast<std::uint64_t>(call.logged[0]), count * sizeof(PollFd)};
  }
  if (of_sets)
    for (int set = 1; set <= 3; set++) {
      const std::uint64_t bytes = (count + 63) / 64 * 8;
      if (call.logged[set] == 0 || bytes == 0) continue;
      memset(reinterpret_cast<void*>(call.logged[set]), 0, bytes);
      to[n++] = {static_cast<std::uint64_t>(call.logged[set]), bytes};
    }
  return n;
}

}  // namespace reweave::core
