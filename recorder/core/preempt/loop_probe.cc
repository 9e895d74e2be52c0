#include "recorder/core/preempt/loop_probe.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/entry_points.h"
#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/counted_loops.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/preemption.h"
#include "recorder/core/preempt/touched_words.h"
#include "recorder/core/preempt/value_trap.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/schedule/due_signals.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/protection_keys.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMaxSteps = 1'000, kMaxStepsIfOverdue = 2'000;
constexpr std::uint32_t kIterations = 4;
constexpr std::uint32_t kMaxOpenPages = 4;  // that one instruction may write

// The time for which a computing thread may stall other threads, or a signal.
constexpr std::uint32_t kPatienceMs = 300, kPatienceForSignalMs = 100;
constexpr std::uint32_t kUnlessFound =
    20;  // multiple of the above, if no instruction is found that a replay reaches quickly

// A thread that is to give way is stepped on to a suitable instruction. For the first kStepsToAlone steps only an
// instruction that can be counted on its own is suitable; up to kStepsToCounted steps, any that can be counted; after
// that, any that a replay reaches quickly. After kMostStepsOfWaiting steps a waiting thread gives way at any
// instruction.
constexpr std::uint32_t kStepsToAlone = 48, kStepsToCounted = 128, kMostStepsOfWaiting = 192;

struct Probe {
  bool active;
  bool approaching;  // it is being stepped to the place where the last probe found the loop
  bool settling;     // the thread gives way, at an instruction that a replay reaches quickly
  bool waits;        // while settling: it waits for another thread, in a known loop
  std::uint32_t stalled_ms;
  Instant start;
  KernelRegisters registers;  // at the start
  std::uint32_t steps, iterations;
  bool recurred;        // returned with `start` and the changed words equal
  std::uint64_t words;  // hash of the changed words when it last returned to `start`; 0: it did not
  std::uint32_t open_count;
  std::uint64_t open_pages[kMaxOpenPages];
  std::uint64_t pause;  // end of the last `pause` instruction
  TouchedWords touched;
  LoopChanges changes;  // complete when the probe has ended
};
Probe probe;

// The loop that the last probe found. It belongs to the same stall if thread and schedule point are the same.
struct SeenLoop {
  bool some;
  ThreadId thread;
  std::uint64_t step;
  std::uint64_t ip;
  KernelRegisters registers;
  LoopChanges changes;
  std::uint64_t memory;  // hash of the memory around the changes; 0: not hashed yet
};
SeenLoop seen;

void protect_memory(bool writable) {
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if ((region.prot & PROT_WRITE) == 0) continue;
    const std::uint32_t prot = writable ? region.prot : region.prot & ~static_cast<std::uint32_t>(PROT_WRITE);
    sys(SYS_mprotect, region.start, region.end - region.start, prot);
  }
}

void close_pages() {
  for (std::uint32_t i = 0; i < probe.open_count; i++) {
    const Region* region = region_at(probe.open_pages[i]);
    sys(SYS_mprotect, probe.open_pages[i], kPage, region->prot & ~static_cast<std::uint32_t>(PROT_WRITE));
  }
  probe.open_count = 0;
}

// The thread is at the instruction and in the frame where the probe began.
void note_iteration(KernelContext& context) {
  const Instant now = instant_of(context);
  probe.iterations++;
  const std::uint64_t words = now == probe.start ? probe.touched.hash() : 0;
  if (words != 0 && (words == probe.words || probe.touched.none())) probe.recurred = true;
  probe.words = words;
  probe.touched.note_turn();
  if (now.vectors != probe.start.vectors) probe.changes.known = false;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++)
    if (general_register(context.registers, i) != general_register(probe.registers, i))
      probe.changes.varying |= std::uint64_t{1} << i;
}

bool same_words(const LoopChanges& a, const LoopChanges& b) {
  if (a.count != b.count) return false;
  for (std::uint32_t i = 0; i < a.count; i++) {
    bool found = false;
    for (std::uint32_t k = 0; k < b.count; k++) found = found || a.words[i] == b.words[k];
    if (!found) return false;
  }
  return true;
}

bool same_registers_but(std::uint64_t varying, KernelRegisters& a, KernelRegisters& b) {
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++)
    if ((varying >> i & 1) == 0 && general_register(a, i) != general_register(b, i)) return false;
  return true;
}

// Places at which threads were preempted in loops; they will probably wait there again.
struct WaitingPlaces {
  static constexpr std::uint32_t kCount = 16;
  static constexpr std::uint64_t kNear = 128;  // bytes of code
  std::uint64_t places[kCount];
  std::uint32_t next;

  bool is_near(std::uint64_t ip) const {
    for (std::uint64_t place : places)
      if (ip + kNear > place && ip < place + kNear) return true;
    return false;
  }
  void add(std::uint64_t ip) {
    if (!is_near(ip)) places[next++ % kCount] = ip;
  }
};
WaitingPlaces waiting_places;

// True if the loop just found is that of the last probe and everything else is unchanged. Memory is hashed only if the
// rest is equal, because that takes long. Keeps the loop for the next probe.
bool is_stuck() {
  const bool again = seen.some && seen.ip == probe.start.ip && same_words(seen.changes, probe.changes);
  const std::uint64_t varying = probe.changes.varying | (again ? seen.changes.varying : 0);
  const bool same = again && same_registers_but(varying, seen.registers, probe.registers);
  const std::uint64_t before = same ? seen.memory : 0;
  const std::uint64_t memory = same ? memory_around(probe.changes) : 0;
  probe.changes.varying = varying;
  seen = {true, self().id, step_of(self()), probe.start.ip, probe.registers, probe.changes, memory};
  return before != 0 && before == memory;
}

// `pause` is meant for spin-wait loops (Intel SDM, volume 2), so a small loop with it is waiting.
bool surely_waits() { return probe.recurred || (probe.changes.known && probe.pause != 0); }

// True if the thread waits for another. A thread that only counts may be waiting or computing.
bool is_waiting() { return surely_waits() || (probe.changes.known && is_stuck()); }

std::uint32_t patience_ms() { return signal_pending(self()) ? kPatienceForSignalMs : kPatienceMs; }

// True if a computing thread should give way, because it has stalled others or a signal for too long.
bool is_overdue() { return probe.stalled_ms >= patience_ms(); }

// Preemptions allowed without patience. Each makes its loop counted from then on (code/counted_loops.h), so a program
// needs only a few of them. If they keep coming, they are of another kind, and are limited.
struct Allowance {
  static constexpr std::uint32_t kMost = 8;
  static constexpr std::int64_t kRegained = 1'000'000'000;  // nanoseconds until one is regained
  std::uint32_t used;
  std::int64_t regained;

  bool some() {
    const std::int64_t now = monotonic_now();
    for (; used > 0 && now - regained >= kRegained; used--) regained += kRegained;
    if (used == 0) regained = now;
    return used < kMost;
  }
};
Allowance allowance;

// The last probe saw a small loop, and another probe may tell whether the loop is a wait.
bool may_be_waiting() { return probe.changes.known && seen.memory == 0; }

bool gives_way() { return is_overdue() || (!may_be_waiting() && allowance.some()); }

void begin_at(const KernelContext& context) {
  probe.approaching = false;
  probe.start = instant_of(context);
  probe.registers = context.registers;
  probe.touched.begin_turn();
  probe.steps = 0;
}

// The value that the supervisor sent with its signal; 0: another process sent the signal.
std::uint64_t value_from_supervisor(const void* info) {
  std::uint64_t value;
  memcpy(&value, static_cast<const std::byte*>(info) + 24, sizeof value);  // si_value
  const bool known = value == kWatchdogValue || value == kSliceOverValue || value == kKickValue;
  return static_cast<const std::int32_t*>(info)[2] == -1 /* SI_QUEUE */ && known ? value : 0;
}

// Limits probes during which no other thread is stalled. Probes that keep finding a computing thread, or a loop in
// which only a counter changes, must not take most of the time, because they hash much memory.
struct Rest {
  static constexpr std::int64_t kShare = 4;  // no other probe for this multiple of the last one's duration
  static constexpr std::uint32_t kFree = 4;  // failed probes before that; the first at a loop always fails
  std::int64_t begun, until;
  std::uint32_t in_vain;

  bool over() const { return monotonic_now() >= until; }
  void begin_look() { begun = monotonic_now(); }
  void end_look(bool surely_waits) {
    in_vain = surely_waits ? 0 : in_vain + 1;
    const std::int64_t now = monotonic_now();
    until = in_vain <= kFree ? now : now + kShare * (now - begun);
  }
};
Rest rest;

void start_probe(KernelContext& context, std::uint32_t stalled_ms) {
  rest.begin_look();
  if (seen.thread != self().id || seen.step != step_of(self())) seen.some = false;
  probe = {};
  probe.active = probe.changes.known = true;
  probe.stalled_ms = stalled_ms;
  begin_at(context);
  probe.approaching = seen.some;
  protect_memory(false);
  context.registers.eflags |= kTrapFlag;
}

// Ends the thread's slice at its next schedule point. Not needed if the thread is in the core, which takes schedule
// points itself; if the thread leaves the core with many points left, the supervisor sends the signal again.
void on_slice_over(KernelContext& context) {
  const std::uint64_t ip = context.registers.rip;
  if (!in_core(ip)) end_slice();
  state().slice_over.store(kSliceTaken);
  const bool suspect = !is_counted_near(ip) && (waiting_places.is_near(ip) || is_pause_near(ip));
  if (!probe.active && suspect && nameable(ip) && rest.over()) start_probe(context, 0);
}

}  // namespace

extern "C" void core_on_watchdog(int number, void* info, void* raw_context) {
  const std::uint64_t value = value_from_supervisor(info);
  if (value == 0) return core_on_asynchronous(number, info, raw_context);
  auto& context = *static_cast<KernelContext*>(raw_context);
  allow_unaligned(context);
  take_all_rights();
  if (value == kKickValue) return on_kick(context);
  self().unseen_signals++;
  if (state().holder.load() != self().id + 1u) return;
  if (value == kSliceOverValue) return on_slice_over(context);
  if (!probe.active && nameable(context.registers.rip)) start_probe(context, state().stalled_ms.load());
}

namespace {

void preempt_computing(KernelContext& context) {
  if (!is_overdue()) allowance.used++;
  preempt(context, probe.touched.telling(context.registers.rsp), probe.pause);
}

void preempt_waiting(KernelContext& context) {
  probe.changes.recurs = probe.recurred && probe.changes.count == 0;
  waiting_places.add(context.registers.rip);
  note_slice_end(self(), probe.start.ip);
  preempt(context, probe.changes, probe.pause);
}

// True if a replay reaches an instant at `ip` quickly, and `ip` is a suitable place to count later iterations.
bool is_good_place(std::uint64_t ip) {
  if (!ValueTrap::is_possible(ip)) return false;
  return probe.steps >= kStepsToCounted || can_be_counted(ip, probe.steps < kStepsToAlone);
}

// Gives way here or at one of the next instructions.
void settle_at(KernelContext& context) {
  const bool usable = nameable(context.registers.rip);
  const bool found = usable && is_good_place(context.registers.rip);
  const std::uint32_t most = probe.waits ? kMostStepsOfWaiting : kMaxSteps;
  if (usable && !found && ++probe.steps < most) return;
  abandon_probe(context);
  const bool late = probe.waits || probe.stalled_ms >= patience_ms() * kUnlessFound;
  if (!found && !(usable && late)) return;
  probe.waits ? preempt_waiting(context) : preempt_computing(context);
}

void begin_to_settle(KernelContext& context, bool waits) {
  probe.active = probe.settling = true;
  probe.waits = waits;
  probe.steps = 0;
  context.registers.eflags |= kTrapFlag;
  settle_at(context);
}

// The last probe ended at an instruction at which no preemption is possible.
bool cut_short;

// True if the probe is to continue. A thread that is to give way is probed for longer, because its loop may be inside
// another one, whose counter distinguishes the iterations. But not if the last probe was cut short, because the thread
// might then never give way.
bool keeps_looking() {
  probe.steps++;
  if (probe.iterations < kIterations && probe.steps < kMaxSteps) return true;
  return is_overdue() && !cut_short && probe.steps < kMaxStepsIfOverdue;
}

// Enough steps were seen, or the last one led to an instruction at which no preemption is possible.
void end_look(KernelContext& context, bool usable) {
  abandon_probe(context);
  cut_short = !usable;
  if (probe.iterations == 0)
    probe.touched.note_turn();  // an iteration is longer than the probe: note what changed meanwhile
  probe.touched.add_to(probe.changes);
  probe.changes.known = probe.changes.known && probe.iterations >= kIterations;
  if (!probe.changes.known) seen.some = false;
  const bool waits = usable && is_waiting();
  rest.end_look(waits && surely_waits());
  if (waits && probe.changes.known && probe.pause != 0) return preempt_waiting(context);
  if (waits || (usable && gives_way())) begin_to_settle(context, waits && probe.changes.known);
}

}  // namespace

bool on_probe_step(KernelContext& context) {
  if (!probe.active) return false;
  close_pages();
  if (probe.settling) {
    settle_at(context);
    return true;
  }
  const KernelRegisters& r = context.registers;
  if (is_pause(r.rip)) probe.pause = r.rip + 2;
  if (probe.approaching) {
    if (r.rip == seen.ip && r.rsp == seen.registers.rsp) begin_at(context);
  } else if (r.rip == probe.start.ip && r.rsp == probe.registers.rsp) {
    note_iteration(context);
  }
  const bool usable = nameable(r.rip);
  if (usable && keeps_looking()) return true;
  end_look(context, usable);
  return true;
}

bool on_probe_write(KernelContext& context, std::uint64_t address) {
  if (!probe.active || probe.open_count == kMaxOpenPages) return false;
  const Region* region = region_at(address);
  if (region == nullptr || (region->prot & PROT_WRITE) == 0 || (context.registers.error & 2) == 0) return false;
  probe.touched.note_write(address);
  probe.open_pages[probe.open_count++] = page_down(address);
  sys(SYS_mprotect, page_down(address), kPage, region->prot);
  return true;
}

void abandon_probe(KernelContext& context) {
  if (!probe.active) return;
  probe.active = false;
  protect_memory(true);
  context.registers.eflags &= ~kTrapFlag;
}

}  // namespace reweave::core
