#include "recorder/core/preemption.h"

#include "recorder/core/countdown.h"
#include "recorder/core/log.h"
#include "recorder/core/patching.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostMemory = 512 << 20;  // private and writable, that is hashed to name an instant

}  // namespace

std::uint64_t memory_around(const LoopChanges& changes) {
  if (hashed_bytes() > kMostMemory) return 0;
  wire::NamedWord words[LoopChanges::kMaxWords];
  for (std::uint32_t i = 0; i < changes.count; i++) words[i] = {changes.words[i], 0};
  return hash_without({words, changes.count});
}

void preempt(KernelContext& context, const LoopChanges& changes) {
  const Instant instant = instant_of(context);
  const std::uint64_t step = settled_step();
  wire::NamedWord words[LoopChanges::kMaxWords];
  for (std::uint32_t i = 0; i < changes.count; i++) words[i] = {changes.words[i], word_at(changes.words[i])};
  // A thread that computes may come here with these registers at another turn, and other memory.
  const std::uint64_t memory = changes.recurs ? 0 : memory_around(changes);
  RecordWriter record(wire::RecordKind::kPreempt, self().id, sizeof(wire::PreemptRecord),
                      changes.count * sizeof(wire::NamedWord));
  auto& body = record.body<wire::PreemptRecord>();
  body.step = step;
  body.ip = instant.ip;
  body.registers = instant.registers;
  body.stack = instant.stack;
  body.vectors = instant.vectors;
  body.memory = memory;
  body.varying = changes.recurs ? wire::kRecurs : changes.known ? changes.varying : wire::kComputes;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) body.general[i] = general_register(context.registers, i);
  body.general[kGeneralRegisters] = context.registers.eflags & kNamedFlags;
  record.append(words, changes.count * sizeof words[0]);
  record.commit();
  give_way(context);
}

void give_way(KernelContext& context) {
  PendingOp op = {};
  op.kind = OpKind::kOther;
  op.pc = context.registers.rip;
  yield_point(op);
  context.registers.rip = where_moved(context.registers.rip);  // others may have patched meanwhile
  deliver_signals(context, false, 0);
}

}  // namespace reweave::core
