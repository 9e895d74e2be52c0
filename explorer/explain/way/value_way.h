// The history of a value: from the operand with which a run failed back to the writes that produced it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/event.h"

namespace reweave {

// Sign-extends a value of `bytes` bytes; 0 means 8.
inline std::int64_t signed_value(std::uint64_t value, std::uint64_t bytes) {
  if (bytes == 0 || bytes >= 8) return static_cast<std::int64_t>(value);
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// One action of a thread on the value.
struct WayStep {
  enum class Kind : std::uint8_t {
    kCompares,  // compares `value` with `other`: the last decision before the end
    kEnds,      // ends the run with `value` as its status
    kFollows,   // follows `value` as a pointer, or an address computed from it
    kPasses,    // passes `value` to the function `object`, which follows it
    kUses,      // uses the block at `value`, which was freed
    kFrees,     // freed that block
    kReads,     // read `value` from `object`
    kWrites,    // wrote `value` to `object`
  };
  Kind kind = Kind::kReads;
  ThreadId thread = 0;
  std::uint64_t pc = 0;                  // address after the instruction or the call
  std::optional<std::uint64_t> event;    // index in the trace of the run
  std::uint32_t number = 0;              // of accesses: the number-th time that the thread reaches `pc`, from main on
  std::uint64_t address = 0, bytes = 0;  // of accesses
  std::optional<std::int64_t> value, other;
  std::string object;
  bool unwritten = false;  // of a read: nothing in the trace wrote to this memory before
};

// A write by another thread between a thread's read and its write of the value computed from it.
struct MissedWrite {
  std::uint64_t event = 0;  // of the read
  WayStep write;
};

struct ValueWay {
  std::vector<WayStep> steps;  // the end of the run first
  std::vector<MissedWrite> missed;
  // The reason why the way ends there or, if there are no steps, why the value was not followed.
  std::string end = "only `reweave explain` follows it";
};

}  // namespace reweave
