#include "recorder/core/log/log.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/checkpoint_calls.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/log/hooks.h"
#include "recorder/core/memory/address_space.h"

#pragma GCC visibility push(hidden)
extern "C" void core_note_hold();  // entry.S
// The number of the event before which this process is to hold again, written by a debugger; 0: none.
extern "C" volatile std::uint64_t core_hold_event;
#pragma GCC visibility pop
volatile std::uint64_t core_hold_event;

namespace reweave::core {

namespace {

void wake(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  sys(SYS_futex, &word, FUTEX_WAKE, 1);
}

// Sleeps until `word` differs from `seen`, for at most 20 ms.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  const long limit[2] = {0, 20'000'000};
  sys(SYS_futex, &word, FUTEX_WAIT, seen, limit);
}

const char* kind_name(std::uint16_t kind) {
  switch (static_cast<wire::RecordKind>(kind)) {
    case wire::RecordKind::kNone:
      return "none";
    case wire::RecordKind::kSwitch:
      return "switch";
    case wire::RecordKind::kSyscall:
      return "system call";
    case wire::RecordKind::kSignal:
      return "signal";
    case wire::RecordKind::kMapFile:
      return "file mapping";
    case wire::RecordKind::kSpawn:
      return "spawn";
    case wire::RecordKind::kExec:
      return "exec";
    case wire::RecordKind::kThreadExit:
      return "thread exit";
    case wire::RecordKind::kProcessExit:
      return "process exit";
    case wire::RecordKind::kOutcome:
      return "outcome";
    case wire::RecordKind::kInput:
      return "input";
    case wire::RecordKind::kChecksum:
      return "checksum";
    case wire::RecordKind::kModule:
      return "module";
    case wire::RecordKind::kPreempt:
      return "preemption";
    case wire::RecordKind::kPatch:
      return "patch";
    case wire::RecordKind::kClock:
      return "clock reading";
    case wire::RecordKind::kMapCode:
      return "mapped code";
  }
  return "unknown record";
}

// Waits until the run may continue. True in a copy that begins here.
bool hold() {
  RunStatus& status = arena().status;
  status.held_pid = static_cast<std::uint32_t>(sys(SYS_getpid));
  status.held.store(kHeld);
  wake(arena().feed.tail_signal);  // the supervisor sleeps at one of these two
  wake(arena().out.head_signal);
  core_note_hold();
  for (;;) {
    std::uint32_t now = status.held.load();
    if (now == 0) return false;
    if (now == kHeld) {
      sys(SYS_futex, &status.held, FUTEX_WAIT, kHeld, 0);
      continue;
    }
    if (log_hooks.make_checkpoint()) return true;
    status.held.compare_exchange_strong(now, kHeld);
  }
}

bool holds_before(std::uint64_t event) { return event == config().stop_event || event == core_hold_event; }

void hold_for_debugger(std::uint64_t event) {
  do {
    if (before_debugger != nullptr && config().makes_checkpoints == 0) before_debugger();
  } while (hold() && holds_before(event));
}

// Returns the number of the next event. Only the baton holder counts, so no locked instruction is needed.
std::uint64_t count_event() {
  std::atomic<std::uint64_t>& event = arena().status.event;
  const std::uint64_t next = event.load(std::memory_order_relaxed) + 1;
  event.store(next, std::memory_order_relaxed);
  return next;
}

constexpr std::uint64_t kPart = 512 << 10;  // of the ring
static_assert(kOutRingBytes / kPart <= 32);

std::uint64_t
    ring_ready;  // this process has prepared the ring up to here, as a count of out.head; 0: it has written nothing yet
std::uint32_t ring_its_own;  // one bit for each part whose pages this process has

std::uint32_t bit_of_part(std::uint64_t count) { return 1u << (count & (kOutRingBytes - 1)) / kPart; }

// The ring is large so that the supervisor may fall behind. If it is behind by at most half of the part used so far,
// writing starts again at the beginning of the ring. The pages there are mapped and cached, and the next ones are
// untouched.
void use_beginning_again() {
  Channel& out = arena().out;
  const std::uint64_t head = out.head.load(std::memory_order_relaxed), at = head & (kOutRingBytes - 1);
  const bool is_new = (ring_ready & (kOutRingBytes - 1)) >= 2 * kPart && (ring_its_own & bit_of_part(ring_ready)) == 0;
  if (!is_new || config().mode != Mode::kRecord || head - out.tail.load(std::memory_order_acquire) > at / 2) return;
  const std::uint64_t rest = kOutRingBytes - at;
  if (head + rest > arena().ring.saved.load(std::memory_order_acquire) + kOutRingBytes) return;
  *reinterpret_cast<wire::RecordHeader*>(kOutBase + at) = {static_cast<std::uint16_t>(wire::RecordKind::kNone), 0,
                                                           static_cast<std::uint32_t>(rest)};
  state().out_skipped.store(state().out_skipped.load(std::memory_order_relaxed) + rest, std::memory_order_relaxed);
  publish_out(rest);
}

// Called at the end of a part; wakes the supervisor to take it. A process that writes much gets the pages of the ring
// by the hundred, because a fault for each page costs as much as copying its contents twice. On kernels without
// MADV_POPULATE_WRITE (before 5.14) they fault in one by one.
void ready_ring(std::uint64_t bytes) {
  constexpr std::uint64_t kFew = 128 << 10;
  if (ring_ready != 0) {
    wake(arena().out.head_signal);
    use_beginning_again();
  }
  const std::uint64_t head = arena().out.head.load(std::memory_order_relaxed);
  if (ring_ready == 0) ring_ready = head + kFew;
  while (ring_ready < head + bytes) {
    const std::uint64_t from = (ring_ready < head ? head : ring_ready) & ~std::uint64_t{kPage - 1};
    ring_ready = (from | (kPart - 1)) + 1;
    const std::uint32_t part = bit_of_part(from);
    if ((ring_its_own & part) != 0) continue;
    ring_its_own |= part;
    sys(SYS_madvise, kOutBase + (from & (kOutRingBytes - 1)), ring_ready - from, MADV_POPULATE_WRITE);
  }
}

}  // namespace

std::byte* reserve_out(std::uint64_t bytes) {
  Channel& out = arena().out;
  if (out.head.load(std::memory_order_relaxed) + bytes > ring_ready) ready_ring(bytes);
  const std::uint64_t head = out.head.load(std::memory_order_relaxed);
  while (head + bytes > state().out_limit) {
    const std::uint32_t seen = out.tail_signal.load();
    state().out_limit = arena().ring.saved.load(std::memory_order_acquire) + kOutRingBytes;
    if (head + bytes <= state().out_limit) break;
    wake(out.head_signal);
    sleep_on(out.tail_signal, seen);
  }
  return reinterpret_cast<std::byte*>(kOutBase + (head & (kOutRingBytes - 1)));
}

void publish_out(std::uint64_t bytes) {
  Channel& out = arena().out;
  out.head.store(out.head.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
}

void flush_out() { wake(arena().out.head_signal); }

void wait_until_drained() {
  Channel& out = arena().out;
  for (;;) {
    const std::uint32_t seen = out.tail_signal.load();
    if (out.tail.load(std::memory_order_acquire) == out.head.load(std::memory_order_relaxed)) return;
    wake(out.head_signal);
    sleep_on(out.tail_signal, seen);
  }
}

RecordWriter::RecordWriter(wire::RecordKind kind, ThreadId thread, std::uint64_t body_bytes, std::uint64_t extra_bytes)
    : bytes_(body_bytes), limit_(round_to(body_bytes + extra_bytes, 8)) {
  if (limit_ > kMaxRecordBytes) bug("record too large");
  start_ = reserve_out(limit_);
  auto& header = body<wire::RecordHeader>();
  header.kind = static_cast<std::uint16_t>(kind);
  header.thread = thread;
}

void RecordWriter::append(const void* data, std::uint64_t bytes) { memcpy(append_space(bytes), data, bytes); }

std::byte* RecordWriter::append_space(std::uint64_t bytes) {
  const std::uint64_t padded = round_to(bytes, 8);
  if (bytes_ + padded > limit_) bug("record larger than announced");
  std::byte* space = start_ + bytes_;
  if (padded != bytes) *reinterpret_cast<std::uint64_t*>(space + padded - 8) &= (std::uint64_t{1} << bytes % 8 * 8) - 1;
  bytes_ += padded;
  return space;
}

void RecordWriter::commit() {
  body<wire::RecordHeader>().bytes = static_cast<std::uint32_t>(bytes_);
  publish_out(bytes_);
  count_event();
}

bool await_record() {
  Channel& feed = arena().feed;
  const std::uint64_t tail = feed.tail.load(std::memory_order_relaxed);
  while (state().feed_known == tail) {
    const std::uint32_t seen = feed.head_signal.load();
    const bool closed = feed.closed.load() != 0;
    state().feed_known = feed.head.load(std::memory_order_acquire);
    if (state().feed_known != tail) break;
    if (closed) return false;
    sleep_on(feed.head_signal, seen);
  }
  return true;
}

namespace {

const wire::ProcessExitRecord* peek_outside_death() {
  const wire::RecordHeader* record = peek_record();
  const bool is_one = record != nullptr && record->thread == wire::kOutsideThread &&
                      record->kind == static_cast<std::uint16_t>(wire::RecordKind::kProcessExit);
  return is_one ? &wire::record_cast<wire::ProcessExitRecord>(*record) : nullptr;
}

}  // namespace

// Several processes may have been killed together, and the baton holder need not be the last of them.
void repeat_outside_deaths_here() {
  wire::ProcessExitRecord own = {};
  bool dies = false;
  while (const wire::ProcessExitRecord* record = peek_outside_death()) {
    const wire::ProcessExitRecord end = *record;
    consume_record();
    log_hooks.repeat_outside_death(end);
    if (end.process != self().process) continue;
    own = end;
    dies = true;
  }
  if (dies) log_hooks.die_outside(own);
}

void (*before_debugger)();

void consume_record() {
  Channel& feed = arena().feed;
  const std::uint64_t tail = feed.tail.load(std::memory_order_relaxed);
  const auto* record = reinterpret_cast<const wire::RecordHeader*>(kFeedBase + (tail & (feed.bytes - 1)));
  const std::uint64_t next = tail + record->bytes;
  // The supervisor sleeps while the feed is full. It is woken at each half of the feed, not at each record.
  const std::uint64_t half = feed.bytes / 2;
  feed.tail.store(next, std::memory_order_release);
  if (((tail ^ next) & ~(half - 1)) != 0) wake(feed.tail_signal);
  const std::uint64_t event = count_event();
  if (holds_before(event)) hold_for_debugger(event);
}

const wire::RecordHeader* expect_record(wire::RecordKind kind, ThreadId thread, const char* doing) {
  repeat_outside_deaths();
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr) end_of_recording();
  if (record->kind != static_cast<std::uint16_t>(kind) || record->thread != thread) diverged(doing, record);
  return record;
}

void diverged(const char* doing, const wire::RecordHeader* record) {
  Text text;
  text << "thread " << self().id << " at event " << arena().status.event.load() << ", schedule point " << state().step
       << "\n  expected: ";
  if (record == nullptr) {
    text << "the end of the recording";
  } else {
    text << kind_name(record->kind) << " of thread " << record->thread;
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSwitch)) {
      const auto& change = wire::record_cast<wire::SwitchRecord>(*record);
      text << " to thread " << change.to << " at schedule point " << change.step;
    } else if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) {
      const auto& call = wire::record_cast<wire::SyscallRecord>(*record);
      text << " number " << call.number << " at schedule point " << call.step << " with (";
      for (int i = 0; i < 6; i++) text.hex(call.args[i]) << (i < 5 ? ", " : ")");
    }
  }
  text << "\n  got:      " << doing;
  stop_run(wire::OutcomeKind::kDiverged, text);
}

void end_of_recording() {
  RunStatus& status = arena().status;
  if (status.final_known.load() != 0 && WIFSIGNALED(status.final_status)) die_by_signal(WTERMSIG(status.final_status));
  if (status.final_known.load() != 0) diverged("continues", nullptr);
  stop_run(wire::OutcomeKind::kTruncated, "the recording is truncated here; everything before this point was replayed");
}

}  // namespace reweave::core
