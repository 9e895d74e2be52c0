// Call stacks in a traced replay: what the core knows and how it asks for what it does not.
//
// Unwinding is a function of the registers, of the words that the unwinder reads from memory, in that order, and of
// the code's unwind tables. So each stack that the supervisor finds is kept with exactly those words, and is the stack
// of any later instant at the same place with the same stack pointer whose words are equal: each equal word is what
// makes the unwinder read the next.
//
//   StackCache: request | buckets, each a list of entries | entries, one behind the other
//
// The core looks up, in the target; the supervisor adds entries, while the target waits for its answer.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// The registers that a call keeps, as core/entry.S lays them out.
struct StackRegisters {
  std::uint64_t r15, r14, r13, r12, rbx, rbp, rsp, rip;
};
inline constexpr std::uint32_t kKeptRegisters = 6;  // those before rsp; the two behind are part of a stack's key

// Something that an unwinding depends on: a word of memory, or (addresses below kKeptRegisters) a register.
struct StackWord {
  std::uint64_t address;
  std::uint64_t value;
};

// Memory whose code stays what it is: a process, until code is unmapped in it.
struct CodeSpace {
  std::uint64_t removals;
  std::uint32_t process;
  bool operator==(const CodeSpace&) const = default;
};

struct StackRequest {
  std::atomic<std::uint32_t> asked;     // requests made so far
  std::atomic<std::uint32_t> answered;  // futex: of these
  CodeSpace space;
  StackRegisters registers;  // in the shim
  std::uint64_t pc;          // the place in the target that the event belongs to: the stack is its callers'
  std::uint32_t bucket;
  ThreadId thread;
  std::uint32_t stack;  // the answer: an id of the trace, or 0 if the stack cannot be known
};

struct StackEntry {
  CodeSpace space;
  std::uint64_t rip, rsp;
  std::uint32_t next;  // in its bucket: index into StackCache::memory, or 0
  std::uint32_t stack;
  std::uint64_t word_count;
  StackWord words[];
};

inline constexpr std::uint32_t kStackBuckets = 1 << 16;
struct StackCache {
  StackRequest request;
  std::uint32_t buckets[kStackBuckets];  // indices into `memory`, or 0
  std::uint64_t used;                    // words of `memory`; the first is never used
  std::uint64_t memory[];
};
inline constexpr std::uint64_t kStackMemoryWords = (kStackCacheBytes - sizeof(StackCache)) / 8;

inline std::uint32_t stack_bucket(std::uint64_t rip, std::uint64_t rsp, std::uint64_t pc) {
  std::uint64_t mixed = (rsp >> 3 ^ pc << 20 ^ rip << 40) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  return static_cast<std::uint32_t>(mixed * 0xbf58476d1ce4e5b9 >> 48);
}

}  // namespace reweave
