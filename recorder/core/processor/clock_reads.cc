#include "recorder/core/processor/clock_reads.h"

#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/base/guarded_call.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/log/log.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Reading {
  Thread& me;
  const KernelContext& context;
  std::uint32_t id;       // of the clock in the record
  std::uint64_t clock;    // CLOCK_*
  std::uint64_t place;    // address for the answer
  std::uint32_t unit;     // of the second word, in nanoseconds
  std::int64_t time = 0;  // in nanoseconds

  std::uint32_t hash() const { return static_cast<std::uint32_t>(mix(context_hash(context.registers), place)); }
};

constexpr std::uint64_t kMostClocks = 16;  // the fixed clocks, which all processes share

// Recording: the call is neither checked nor filtered, and no signal is waiting for it.
bool is_plain(const Reading& reading) {
  const Thread& me = reading.me;
  return live() && config().memory_checksums == 0 && me.seccomp == 0 && me.tracee == 0 &&
         me.queued.load(std::memory_order_relaxed) == 0 && me.held == 0 && me.has_saved_mask == 0;
}

// Counts the call's schedule point. False, without counting it: the policy must be asked there.
bool count_point(Thread& me) {
  if (--me.countdown >= 0) return true;
  const std::int64_t left = points_left(me);
  if (left >= 0) set_points_left(me, left);
  if (left < 0) me.countdown++;
  return left >= 0;
}

// The last time shown to the program, and the event after which it was shown.
struct Shown {
  std::uint64_t clock;
  std::int64_t time;
  std::uint64_t event;
  std::uint32_t repeats;
};
Shown shown;

std::int64_t time_of_kernel(std::uint64_t clock) {
  std::int64_t time[2];
  if (sys(SYS_clock_gettime, clock, time) != 0 || time[0] > INT64_MAX / kSecond - 1) return -1;
  shown.repeats = 0;
  return time[0] * kSecond + time[1];
}

// Returns the time of the clock in nanoseconds, or -1. If the time that the supervisor keeps is later than the last
// time shown, it is a time between the last read and now. A program that only computed in between cannot tell it from
// the present time. The kept time stands still if the supervisor is busy or has no processor. Then the time shown
// advances by less than the duration of a read, for at most kMostRepeats reads.
std::int64_t time_of(std::uint64_t clock) {
  constexpr std::int64_t kLeast = 10;
  constexpr std::uint32_t kMostRepeats = 32;
  if (clock > CLOCK_MONOTONIC) return time_of_kernel(clock);
  KeptTime& kept = arena().kept_time;
  kept.reads.store(kept.reads.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::int64_t time = kept.monotonic.load(std::memory_order_relaxed);
  const bool still_current =
      shown.clock == clock && shown.event == arena().status.event.load(std::memory_order_relaxed);
  if (time == 0 || !still_current) return time_of_kernel(clock);
  if (clock == CLOCK_REALTIME) time += kept.to_realtime.load(std::memory_order_relaxed);
  if (time > shown.time) {
    shown.repeats = 0;
    return time;
  }
  return shown.repeats++ < kMostRepeats ? shown.time + kLeast : time_of_kernel(clock);
}

long store(void* argument) {
  const auto& reading = *static_cast<const Reading*>(argument);
  auto* place = reinterpret_cast<std::int64_t*>(reading.place);
  place[0] = reading.time / kSecond;
  const auto part = static_cast<std::uint32_t>(reading.time % kSecond);
  place[1] = reading.unit == 1 ? part : part / reading.unit;
  return 0;
}

// Stores the time at the program's address. False: that memory is not accessible.
bool answer(Reading& reading) {
  const bool stored = core_guarded(store, &reading, &reading.me.call_frame) == 0;
  reading.me.call_frame = 0;
  return stored;
}

void log(const Reading& reading) {
  RecordWriter record(wire::RecordKind::kClock, reading.me.id, sizeof(wire::ClockRecord), 0);
  auto& body = record.body<wire::ClockRecord>();
  body.step = step_of(reading.me);
  body.time = reading.time;
  body.context = reading.hash();
  body.clock = reading.id;
  record.commit();
}

bool record_reading(Reading& reading) {
  if (!is_plain(reading) || !count_point(reading.me)) return false;
  reading.time = time_of(reading.clock);
  const bool done = reading.time >= 0 && answer(reading);
  if (!done) reading.me.countdown++;
  if (!done) return false;
  log(reading);
  shown = {reading.clock, reading.time, arena().status.event.load(std::memory_order_relaxed), shown.repeats};
  return true;
}

// Replay: the thread's next schedule point is a clock read as well, so nothing needs to be armed.
bool reads_again(const Thread& me) {
  const wire::RecordHeader* next = peek_record();
  return next != nullptr && next->kind == static_cast<std::uint16_t>(wire::RecordKind::kClock) &&
         next->thread == me.id && wire::record_cast<wire::ClockRecord>(*next).step == step_of(me) + 1;
}

bool replay_reading(Reading& reading, long number) {
  const wire::RecordHeader* next = peek_record();
  if (next == nullptr || next->kind != static_cast<std::uint16_t>(wire::RecordKind::kClock)) return false;
  const auto& record = wire::record_cast<wire::ClockRecord>(*next);
  if (next->thread != reading.me.id || record.clock != reading.id || record.context != reading.hash())
    diverged("read a clock that the recording does not have here", next);
  if (record.step != step_of(reading.me) + 1) diverged("read a clock at another schedule point", next);
  reading.time = record.time;
  if (!answer(reading)) diverged("read a clock into memory that is not mapped", next);
  reading.me.countdown--;
  if (tracing()) trace_call(reading.context, number);
  consume_record();
  if (!reads_again(reading.me)) arm();
  return true;
}

bool read(Reading reading, long number) {
  return replaying() ? replay_reading(reading, number) : record_reading(reading);
}

}  // namespace

bool read_clock(KernelContext& context, long number) {
  auto& r = context.registers;
  bool done = false;
  if (number == SYS_clock_gettime && r.rdi < kMostClocks)
    done = read({self(), context, static_cast<std::uint32_t>(r.rdi), r.rdi, r.rsi, 1}, number);
  else if (number == SYS_gettimeofday && r.rdi != 0 && r.rsi == 0)
    done = read({self(), context, wire::kTimeOfDay, CLOCK_REALTIME, r.rdi, 1'000}, number);
  if (done) r.rax = 0;
  return done;
}

}  // namespace reweave::core
