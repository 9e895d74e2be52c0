// The way of a value: from the operand with which a run failed back to the writes that made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/event.h"

namespace reweave {

// A value of `bytes` bytes, with its sign; all of it if it has 8, or if `bytes` is 0.
inline std::int64_t signed_value(std::uint64_t value, std::uint64_t bytes) {
  if (bytes == 0 || bytes >= 8) return static_cast<std::int64_t>(value);
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// What one thread did to the value at one place.
struct WayStep {
  enum class Kind : std::uint8_t {
    kCompares,  // the last decision before the end: `value` with `other`
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
  std::uint64_t pc = 0;                  // behind the instruction or the call
  std::optional<std::uint64_t> event;    // index in the trace of the run
  std::uint32_t number = 0;              // of accesses: the number-th time that the thread comes there, from main on
  std::uint64_t address = 0, bytes = 0;  // of accesses
  std::optional<std::int64_t> value, other;
  std::string object;
  bool unwritten = false;  // of a read: nothing in the trace wrote there before
};

// A write by another thread that came between a read and the write of what was computed from it.
struct MissedWrite {
  std::uint64_t event = 0;  // of the read
  WayStep write;
};

struct ValueWay {
  std::vector<WayStep> steps;  // the end of the run first
  std::vector<MissedWrite> missed;
  // Why it goes no further; or if there are no steps, why it was not followed.
  std::string end = "only `reweave explain` follows it";
};

}  // namespace reweave
