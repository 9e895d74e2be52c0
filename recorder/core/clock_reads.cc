#include "recorder/core/clock_reads.h"

#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/checksum.h"
#include "recorder/core/countdown.h"
#include "recorder/core/dispatch.h"
#include "recorder/core/log.h"
#include "recorder/core/scheduler.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Reading {
  Thread& me;
  const KernelRegisters& registers;
  std::int64_t time;  // nanoseconds

  std::uint64_t clock() const { return registers.rdi; }
  std::uint64_t place() const { return registers.rsi; }
  std::uint32_t context() const { return static_cast<std::uint32_t>(mix(context_hash(registers), place())); }
};

// Recording: nobody checks or filters the call, and no signal waits for it.
bool is_plain(const Reading& reading) {
  const Thread& me = reading.me;
  return live() && config().memory_checksums == 0 && me.seccomp == 0 && me.tracee == 0 && reading.clock() < 16 &&
         me.queued.load(std::memory_order_relaxed) == 0 && me.held == 0 && me.has_saved_mask == 0;
}

// Counts the call's schedule point. False, and it is not counted: the policy is to be asked there.
bool count_point(Thread& me) {
  if (--me.countdown >= 0) return true;
  const std::int64_t left = points_left(me);
  if (left >= 0) set_points_left(me, left);
  if (left < 0) me.countdown++;
  return left >= 0;
}

// The last time that was shown, and after which event.
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

// Nanoseconds on the clock, or -1. A time that the supervisor keeps is of an instant between the last reading and now if
// it is later than what was shown then; and if nothing but computing came between, the program cannot tell that from
// now. Where it stands still, for the supervisor has other work or no processor, the time goes on by less than a reading
// takes, a few times.
std::int64_t time_of(std::uint64_t clock) {
  constexpr std::int64_t kLeast = 10;
  constexpr std::uint32_t kMostRepeats = 32;
  KeptTime& kept = arena().kept_time;
  kept.reads.store(kept.reads.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::int64_t time = kept.monotonic.load(std::memory_order_relaxed);
  const bool goes_on = shown.clock == clock && shown.event == arena().status.event.load(std::memory_order_relaxed);
  if (time == 0 || !goes_on || clock > CLOCK_MONOTONIC) return time_of_kernel(clock);
  if (clock == CLOCK_REALTIME) time += kept.to_realtime.load(std::memory_order_relaxed);
  if (time > shown.time) {
    shown.repeats = 0;
    return time;
  }
  return shown.repeats++ < kMostRepeats ? shown.time + kLeast : time_of_kernel(clock);
}

long store(void* argument) {
  const auto& reading = *static_cast<const Reading*>(argument);
  auto* place = reinterpret_cast<std::int64_t*>(reading.place());
  place[0] = reading.time / kSecond;
  place[1] = reading.time % kSecond;
  return 0;
}

// Puts the time where the program wants it. False: there is no such memory.
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
  body.context = reading.context();
  body.clock = static_cast<std::uint32_t>(reading.clock());
  record.commit();
}

bool record_reading(Reading& reading) {
  if (!is_plain(reading) || !count_point(reading.me)) return false;
  reading.time = time_of(reading.clock());
  const bool done = reading.time >= 0 && answer(reading);
  if (!done) reading.me.countdown++;
  if (!done) return false;
  log(reading);
  shown = {reading.clock(), reading.time, arena().status.event.load(std::memory_order_relaxed), shown.repeats};
  return true;
}

bool replay_reading(Reading& reading, const KernelContext& context) {
  const wire::RecordHeader* next = peek_record();
  if (next == nullptr || next->kind != static_cast<std::uint16_t>(wire::RecordKind::kClock)) return false;
  const auto& record = *reinterpret_cast<const wire::ClockRecord*>(next);
  if (next->thread != reading.me.id || record.clock != reading.clock() || record.context != reading.context())
    diverged("read a clock, or in another place", next);
  if (record.step != step_of(reading.me) + 1) diverged("read a clock at another schedule point", next);
  reading.time = record.time;
  if (!answer(reading)) diverged("read a clock to memory that is not there", next);
  reading.me.countdown--;
  if (tracing()) trace_call(context, SYS_clock_gettime);
  consume_record();
  arm();
  return true;
}

}  // namespace

bool read_clock(KernelContext& context) {
  Reading reading = {self(), context.registers, 0};
  const bool done = replaying() ? replay_reading(reading, context) : record_reading(reading);
  if (done) context.registers.rax = 0;
  return done;
}

}  // namespace reweave::core
