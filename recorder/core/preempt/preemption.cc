#include "recorder/core/preempt/preemption.h"

#include "recorder/core/code/counted_loops.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/memory_hash.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostMemory = 512 << 20;  // limit of the writable memory that is hashed to name an instant
PageMark page_marks[kMostMemory / kPage];

struct Words {
  wire::NamedWord items[LoopChanges::kMaxWords];
  explicit Words(const LoopChanges& changes) {
    for (std::uint32_t i = 0; i < changes.count; i++) items[i] = {changes.words[i], word_at(changes.words[i])};
  }
};

std::uint64_t varying_of(const LoopChanges& changes) {
  if (changes.recurs) return wire::kRecurs;
  return changes.known ? changes.varying : wire::kComputes | changes.count;
}

MemoryHash hash_around(const LoopChanges& changes, PageMark* marks = nullptr) {
  if (hashed_bytes() > kMostMemory) return {};
  const Words words(changes);
  const Without without({words.items, changes.count});
  return hash_memory(HashedMemory::kOfTree, marks);
}

}  // namespace

std::uint64_t memory_around(const LoopChanges& changes) { return hash_around(changes).all; }

void preempt(KernelContext& context, const LoopChanges& changes, std::uint64_t pause) {
  const Instant instant = instant_of(context);
  const std::uint64_t step = settled_step();
  const Words words(changes);
  const std::uint64_t words_bytes = changes.count * sizeof words.items[0];
  // A computing thread may reach this instruction with the same registers in another iteration, with different memory
  // contents, so the memory is hashed as well.
  const bool computes = !changes.known && !changes.recurs;
  const MemoryHash memory = changes.recurs ? MemoryHash{} : hash_around(changes, computes ? page_marks : nullptr);
  const bool has_pages = computes && memory.all != 0;
  const wire::PageHashes pages = {memory.but_stacks};
  const std::uint64_t marks_bytes = memory.pages * sizeof(PageMark);
  const std::uint64_t pages_bytes = has_pages ? sizeof pages + round_to(marks_bytes, 8) : 0;
  RecordWriter record(wire::RecordKind::kPreempt, self().id, sizeof(wire::PreemptRecord), words_bytes + pages_bytes);
  auto& body = record.body<wire::PreemptRecord>();
  body.step = step;
  body.ip = instant.ip;
  body.registers = instant.registers;
  body.stack = instant.stack;
  body.vectors = instant.vectors;
  body.memory = memory.all;
  body.varying = wire::with_stalled_ms(varying_of(changes), state().stalled_ms.load());
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) body.general[i] = general_register(context.registers, i);
  body.general[kGeneralRegisters] = context.registers.eflags & kKeptFlags;
  record.append(words.items, words_bytes);
  if (has_pages) record.append(&pages, sizeof pages);
  if (has_pages) record.append(page_marks, marks_bytes);
  record.commit();
  if (pause != 0)
    note_pause_site(pause);
  else
    note_counted_loop(instant.ip);
  give_way(context);
}

bool count_at_loop(KernelContext& context) {
  // A policy with short slices is asked once in this many iterations, because a loop may have only a few instructions.
  constexpr std::int64_t kLeastUndisturbed = 256;
  KernelRegisters& r = context.registers;
  const CountedPoint reached = counted_point_at(r.rip);
  if (reached.start == 0) return false;
  Thread& me = self();
  r.rip = reached.start;
  if (me.counted_at == reached.start)
    me.counted_at = 0;
  else if (!reached.counted)
    me.countdown--;
  if (me.countdown < 0) {
    const bool due = points_left(me) < 0;
    r.eflags &= ~flags_not_kept(reached.start);
    PendingOp op = {};
    op.kind = OpKind::kOther;
    op.pc = reached.start;
    counted_point(op);
    if (due && live() && points_left(me) < kLeastUndisturbed && !signal_pending(me)) settle(me, kLeastUndisturbed);
    gather_points(me);
    deliver_signals(context, false, 0);
  }
  if (r.rip != reached.start) return true;
  if (debugger_counts(reached.start))
    me.counted_at = reached.start;
  else
    r.rip = address_after_count(reached.start);
  return true;
}

void give_way(KernelContext& context) {
  PendingOp op = {};
  op.kind = OpKind::kOther;
  op.pc = context.registers.rip;
  yield_point(op);
  context.registers.rip = where_moved(context.registers.rip);  // other threads may have patched code meanwhile
  deliver_signals(context, false, 0);
}

}  // namespace reweave::core
