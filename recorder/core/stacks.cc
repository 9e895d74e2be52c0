#include "recorder/core/stacks.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/base/guarded_call.h"
#include "recorder/core/log/log.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

namespace {

StackCache& cache() { return *reinterpret_cast<StackCache*>(kArenaBase + kStackCacheOffset); }

struct Lookup {
  const StackRegisters& registers;
  CodeSpace space;
  std::uint32_t bucket;
};

StackEntry& entry_at(std::uint32_t index) { return *reinterpret_cast<StackEntry*>(cache().memory + index); }

// Reads each word only if those before are equal, so that it touches no address that an unwinder would not touch.
bool holds(const StackEntry& entry, const Lookup& lookup) {
  if (entry.rsp != lookup.registers.rsp || entry.rip != lookup.registers.rip || entry.space != lookup.space)
    return false;
  const auto* registers = reinterpret_cast<const std::uint64_t*>(&lookup.registers);
  for (std::uint64_t i = 0; i < entry.word_count; i++) {
    const StackWord& word = entry.words[i];
    const auto* place =
        word.address < kKeptRegisters ? registers + word.address : reinterpret_cast<const std::uint64_t*>(word.address);
    if (*place != word.value) return false;
  }
  return true;
}

// The known stack, or -1. Moves the entry found to the front.
long find(void* argument) {
  const auto& lookup = *static_cast<const Lookup*>(argument);
  std::uint32_t& first = cache().buckets[lookup.bucket];
  for (std::uint32_t* link = &first; *link != 0; link = &entry_at(*link).next) {
    StackEntry& entry = entry_at(*link);
    if (!holds(entry, lookup)) continue;
    if (link != &first) {
      const std::uint32_t found = *link;
      *link = entry.next;
      entry.next = first;
      first = found;
    }
    return entry.stack;
  }
  return -1;
}

// Lets the supervisor unwind this thread, which waits meanwhile.
std::uint32_t ask(const Lookup& lookup, std::uint64_t pc) {
  StackRequest& request = cache().request;
  request.space = lookup.space;
  request.registers = lookup.registers;
  request.pc = pc;
  request.bucket = lookup.bucket;
  request.thread = self().id;
  const std::uint32_t number = request.asked.fetch_add(1) + 1;
  flush_out();
  const long limit[2] = {0, 20'000'000};
  for (std::uint32_t seen; (seen = request.answered.load()) != number;)
    sys(SYS_futex, &request.answered, FUTEX_WAIT, seen, limit);
  return request.stack;
}

}  // namespace

void trace_call_stack(const StackRegisters& registers, std::uint64_t pc) {
  Thread& me = self();
  Lookup lookup = {registers, {process().code_removals, me.process}, stack_bucket(registers.rip, registers.rsp, pc)};
  // A damaged stack may lead to any address.
  const long known = core_guarded(find, &lookup, &me.call_frame);
  me.call_frame = 0;
  const std::uint32_t stack = known >= 0 ? static_cast<std::uint32_t>(known) : ask(lookup, pc);
  if (stack == me.traced_stack) return;
  me.traced_stack = stack;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(EventKind::kStack, 0, 0, true);
  words[1] = wire::pack_word1(pc, me.id);
  words[2] = stack;
  publish_out(24);
}

}  // namespace reweave::core
