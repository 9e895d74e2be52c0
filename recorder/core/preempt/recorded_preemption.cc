#include "recorder/core/preempt/recorded_preemption.h"

#include <sys/mman.h>

#include "recorder/core/code/counted_loops.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/code_trap.h"
#include "recorder/core/preempt/memory_hash.h"
#include "recorder/core/preempt/preemption.h"
#include "recorder/core/preempt/value_trap.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/signals/signals.h"

namespace reweave::core {

namespace {

// Pages in which earlier hits differed from the recorded instant; the next hits probably differ there as well.
struct Suspects {
  static constexpr std::uint32_t kCount = 8;
  OtherPage pages[kCount];
  std::uint32_t next;

  void add(const OtherPage& page) { pages[next++ % kCount] = page; }
  bool differ(const PageMark* marks) const {
    for (const OtherPage& page : pages)
      if (page.at != 0 && page_mark(page.at) != marks[page.index]) return true;
    return false;
  }
};

// The breakpoint of this process; only the baton holder can hit it. After its first hit it may be made quick, by a
// ValueTrap.
struct Breakpoint {
  CodeTrap trap;
  ValueTrap quick;
  bool tried;          // a quick one is impossible here
  bool stepping;       // the original instruction is being executed
  bool seen;           // the thread has been at the instant once
  std::uint64_t hits;  // hits that were not the instant
  Suspects suspects;

  std::uint64_t address() const { return quick.planted() ? quick.address() : trap.address; }
};
Breakpoint breakpoint;

const wire::PreemptRecord* next_preemption() {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kPreempt)) return nullptr;
  return record->thread == self().id ? &wire::record_cast<wire::PreemptRecord>(*record) : nullptr;
}

void plant(std::uint64_t address) {
  breakpoint = {};
  if (!breakpoint.trap.plant(address)) diverged("has no code at the address where it was preempted", peek_record());
}

// The supervisor watches how long it takes (replayer/instant_watch.h).
void begin_search(const wire::PreemptRecord& record) {
  SoughtInstant& sought = arena().status.sought;
  sought.stalled_ms = wire::stalled_ms(record);
  sought.ip = record.ip;
  sought.passes.store(0, std::memory_order_relaxed);
  sought.other_page.store(0, std::memory_order_relaxed);
  sought.thread.store(self().id + 1u, std::memory_order_release);
}

void remove_breakpoint() {
  arena().status.sought.thread.store(0, std::memory_order_relaxed);
  breakpoint.quick.remove();
  breakpoint.trap.remove();
  breakpoint = {};
}

bool computes(const wire::PreemptRecord& record) { return (record.varying & wire::kComputes) != 0; }

NamedWords words_of(const wire::PreemptRecord& record) {
  const std::uint64_t room = (record.header.bytes - sizeof record) / sizeof(wire::NamedWord);
  const std::uint64_t said = wire::varying_of(record) & ~wire::kComputes;
  return {reinterpret_cast<const wire::NamedWord*>(&record + 1), computes(record) && said < room ? said : room};
}

bool have_protection(const NamedWords& words, std::uint32_t wanted) {
  for (const wire::NamedWord& word : words) {
    const Region* region = region_at(word.address);
    if (region == nullptr || (region->prot & wanted) != wanted) return false;
  }
  return true;
}

bool words_equal(const NamedWords& words) {
  if (!have_protection(words, PROT_READ)) return false;
  for (const wire::NamedWord& word : words)
    if (word_at(word.address) != word.value) return false;
  return true;
}

// False as soon as a page's mark differs, which is usually early.
bool pages_equal(const wire::PreemptRecord& record, const NamedWords& words) {
  const auto* end = reinterpret_cast<const std::byte*>(&record) + record.header.bytes;
  const auto* pages = reinterpret_cast<const wire::PageHashes*>(words.end());
  const auto* first = reinterpret_cast<const PageMark*>(pages + 1);
  const auto* last = reinterpret_cast<const PageMark*>(end);
  if (first > last) diverged("read a damaged preemption", &record.header);
  if (breakpoint.suspects.differ(first)) return false;
  const OtherPage other = find_other_page(HashedMemory::kOfTree, {first, last}, tracing());
  if (other.at != 0) breakpoint.suspects.add(other);
  if (other.at != 0) arena().status.sought.other_page.store(other.at, std::memory_order_relaxed);
  return other.at == 0 && (!tracing() || hash_memory(HashedMemory::kOfTree).but_stacks == pages->but_stacks);
}

bool memory_equal(const wire::PreemptRecord& record) {
  const NamedWords words = words_of(record);
  if (words.count > NamedWords::kMax || !have_protection(words, PROT_READ | PROT_WRITE)) return false;
  const Without without(words);
  if (computes(record) && !pages_equal(record, words)) return false;
  return tracing() || hash_memory(HashedMemory::kOfTree).all == record.memory;
}

bool is_the_instant(const KernelContext& context, const wire::PreemptRecord& record) {
  return instant_of(context) == Instant{record.ip, record.registers, record.stack, record.vectors} &&
         words_equal(words_of(record)) && (record.memory == 0 || memory_equal(record));
}

// A replay that makes a trace does not compare all memory, so it is strict about registers. Otherwise registers may be
// set to their recorded values: nothing else is left in which the instants differ.
bool must_be_equal(const wire::PreemptRecord& record, std::uint32_t i) {
  const bool may_vary = !tracing() || (record.varying >> i & 1) != 0;
  return !may_vary || i == kStackPointer || is_ours(record.general[i]);
}

// True if everything that the record does not name by word or register is as recorded: the thread is in the recorded
// loop, before or after the recorded iteration.
bool in_the_loop(KernelContext& context, const wire::PreemptRecord& record) {
  if ((computes(record) && tracing()) || record.memory == 0) return false;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) {
    const std::uint64_t value = without_ours(general_register(context.registers, i));
    if (must_be_equal(record, i) && value != without_ours(record.general[i])) return false;
  }
  return instant_of(context).vectors == record.vectors && memory_equal(record);
}

// Takes over the undefined flags as the recording processor left them.
void keep_flags(KernelRegisters& r, const wire::PreemptRecord& record) {
  r.eflags = (r.eflags & ~kKeptFlags) | (record.general[kGeneralRegisters] & kKeptFlags);
}

void jump_to_iteration(KernelContext& context, const wire::PreemptRecord& record) {
  KernelRegisters& r = context.registers;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++)
    if (!must_be_equal(record, i)) general_register(r, i) = record.general[i];
  keep_flags(r, record);
  for (const wire::NamedWord& word : words_of(record)) store_word(word.address, word.value);
}

// True if this is the instant, or was made equal to it by setting registers and words. Memory is compared at hits 1, 2,
// 4, ... only.
bool reaches_the_instant(KernelContext& context, const wire::PreemptRecord& record) {
  if (step_of(self()) != record.step) return false;
  if (is_the_instant(context, record)) {
    const bool first = !breakpoint.seen;
    breakpoint.seen = true;
    if (wire::varying_of(record) == wire::kRecurs && first) return false;
    keep_flags(context.registers, record);
    return true;
  }
  const std::uint64_t hits = ++breakpoint.hits;
  arena().status.sought.passes.fetch_add(1, std::memory_order_relaxed);
  if ((hits & (hits - 1)) != 0 || !in_the_loop(context, record)) return false;
  jump_to_iteration(context, record);
  return true;
}

// True if the thread was preempted: this is the recorded instant, or was made equal to it.
bool preempt_if_due(KernelContext& context) {
  const wire::PreemptRecord* record = next_preemption();
  if (record == nullptr || !reaches_the_instant(context, *record)) return false;
  remove_breakpoint();
  consume_record();
  follow_recorded_pause();
  follow_recorded_loop();
  give_way(context);
  return true;
}

bool make_quick(KernelContext& context) {
  const wire::PreemptRecord* record = next_preemption();
  if (record == nullptr) return false;
  const NamedWords words = words_of(*record);
  if (words.count > NamedWords::kMax || !have_protection(words, PROT_READ)) return false;
  breakpoint.trap.remove();
  if (breakpoint.quick.plant(context.registers, {record->general, words})) return true;
  plant(context.registers.rip);
  return false;
}

void step_over(KernelContext& context) {
  breakpoint.trap.lift();
  breakpoint.stepping = true;
  context.registers.eflags |= kTrapFlag;
}

// Replaces the quick breakpoint by an ordinary one. A thread in the moved instructions continues in the original ones.
void replace_quick(KernelContext& context) {
  const std::uint64_t origin = breakpoint.quick.origin(context.registers.rip);
  const std::uint64_t address = breakpoint.quick.address();
  breakpoint.quick.remove();
  plant(address);
  if (origin != 0) context.registers.rip = origin;
}

}  // namespace

void watch_for_preemption() {
  const wire::PreemptRecord* record = next_preemption();
  // Before that schedule point the thread may pass the same place in each iteration of a loop.
  const std::uint64_t wanted = record == nullptr || record->step != state().step ? 0 : record->ip;
  if (wanted == breakpoint.address()) return;
  remove_breakpoint();
  if (wanted == 0) return;
  plant(wanted);
  begin_search(*record);
}

bool on_breakpoint(KernelContext& context) {
  KernelRegisters& r = context.registers;
  if (breakpoint.quick.hit(r.rip)) {
    r.rip = breakpoint.quick.address();
    if (!preempt_if_due(context)) r.rip = breakpoint.quick.resume_address();
    return true;
  }
  if (breakpoint.trap.address == 0) return false;
  if (breakpoint.stepping) {
    abandon_step_over(context);
    return true;
  }
  if (!breakpoint.trap.hit(r.rip)) return false;
  r.rip--;
  if (preempt_if_due(context)) return true;
  if (!breakpoint.tried && make_quick(context)) return true;
  breakpoint.tried = true;
  step_over(context);
  return true;
}

// The program writes code on the breakpoint's page: the write is stepped over without the breakpoint, which is then set
// again in the new code.
bool on_breakpoint_write(KernelContext& context, std::uint64_t address) {
  const bool is_write = (context.registers.error & 2) != 0;
  if (!is_write || (!breakpoint.quick.guards(address) && !breakpoint.trap.guards(address))) return false;
  if (in_core(context.registers.rip)) {  // the core arms the breakpoint again before it returns
    remove_breakpoint();
    return true;
  }
  if (breakpoint.quick.planted()) replace_quick(context);
  step_over(context);
  return true;
}

void abandon_step_over(KernelContext& context) {
  if (breakpoint.quick.origin(context.registers.rip) != 0) {
    replace_quick(context);
    breakpoint.tried = true;
  }
  if (!breakpoint.stepping) return;
  breakpoint.stepping = false;
  context.registers.eflags &= ~kTrapFlag;
  breakpoint.trap.set_again();
}

}  // namespace reweave::core
