// Call stacks in a traced replay: a cache, and the requests for stacks that are not in it.
//
// Unwinding is a function of the registers, of the words that the unwinder reads from memory, in that order, and of the
// code's unwind tables. So each stack that the supervisor finds is stored with exactly those words. It is also the
// stack of any later instant at the same place, with the same stack pointer and equal words: each equal word makes the
// unwinder read the same next word.
//
//   StackCache: request | buckets, each a list of entries | entries, in sequence
//
// The core looks stacks up, in the target; the supervisor adds entries while the target waits for its answer.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// The callee-saved registers, as core/entry.S lays them out.
struct StackRegisters {
  std::uint64_t r15, r14, r13, r12, rbx, rbp, rsp, rip;
};
inline constexpr std::uint32_t kKeptRegisters = 6;  // before rsp; rsp and rip are part of a stack's key

// An input of an unwinding: a word of memory or (addresses below kKeptRegisters) a register.
struct StackWord {
  std::uint64_t address;
  std::uint64_t value;
};

// The scope in which an address of code keeps its meaning: one process, until it unmaps code (Process::code_removals).
struct CodeSpace {
  std::uint64_t removals;
  std::uint32_t process;
  bool operator==(const CodeSpace&) const = default;
};

struct StackRequest {
  std::atomic<std::uint32_t> asked;     // requests made so far
  std::atomic<std::uint32_t> answered;  // futex: requests answered so far
  CodeSpace space;
  StackRegisters registers;  // in the shim
  std::uint64_t pc;          // the place in the target to which the event belongs: the stack is that of its callers
  std::uint32_t bucket;
  ThreadId thread;
  std::uint32_t stack;  // the answer: an ID in the trace, or 0 if the stack cannot be determined
};

struct StackEntry {
  CodeSpace space;
  std::uint64_t rip, rsp;
  std::uint32_t next;  // index into StackCache::memory of the next entry in its bucket, or 0
  std::uint32_t stack;
  std::uint64_t word_count;
  StackWord words[];
};

inline constexpr std::uint32_t kStackBuckets = 1 << 16;
struct StackCache {
  StackRequest request;
  std::uint32_t buckets[kStackBuckets];  // indices into `memory`, or 0
  std::uint64_t used;                    // words of `memory` used; the first is never used
  std::uint64_t memory[];
};
inline constexpr std::uint64_t kStackMemoryWords = (kStackCacheBytes - sizeof(StackCache)) / 8;

inline std::uint32_t stack_bucket(std::uint64_t rip, std::uint64_t rsp, std::uint64_t pc) {
  std::uint64_t mixed = (rsp >> 3 ^ pc << 20 ^ rip << 40) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  return static_cast<std::uint32_t>(mixed * 0xbf58476d1ce4e5b9 >> 48);
}

}  // namespace reweave
