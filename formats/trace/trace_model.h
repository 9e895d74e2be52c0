// The state from which the encoder and the decoder of a trace chunk make the same predictions.
//
// An *op* is one kind of operation of one thread at one site (thread, site, form); a loop of a program is a cycle of
// ops. The state of an op is: the last two ops that followed it, its last address, its stride, its last distance from
// the thread's previous access, its last extra word, and its last small value (value_coding.h). An event that is
// predicted in all its parts costs one zero byte before compression. Everything is reset at a chunk's start, so that
// chunks decode alone.
//
//   control byte:  7     6      5       4       3 2      1 0
//                  zero  value  thread  extra   address  op
#pragma once

#include <cstdint>
#include <vector>

#include "formats/event.h"

namespace reweave {

namespace control {
// Bits of the control byte: the coding of the op.
inline constexpr std::uint8_t kOpMask = 3;
inline constexpr std::uint8_t kOpFirst = 0;   // the last successor
inline constexpr std::uint8_t kOpSecond = 1;  // the one before that
inline constexpr std::uint8_t kOpGiven = 2;   // in `ops`
inline constexpr std::uint8_t kOpNew = 3;     // in `newOps`
// Bits of the control byte: the coding of the address.
inline constexpr std::uint8_t kAddressMask = 3 << 2;
inline constexpr std::uint8_t kAddressStride = 0 << 2;     // the op's last one + stride
inline constexpr std::uint8_t kAddressNear = 1 << 2;       // the same distance from the thread's last one as last time
inline constexpr std::uint8_t kAddressGiven = 2 << 2;      // in `addresses`, relative to the op's last one
inline constexpr std::uint8_t kAddressGivenNear = 3 << 2;  // in `addresses`, relative to the thread's last one
inline constexpr std::uint8_t kExtraGiven = 1 << 4;
inline constexpr std::uint8_t kThreadGiven = 1 << 5;
inline constexpr std::uint8_t kValueGiven = 1 << 6;
inline constexpr std::uint8_t kReserved = 1 << 7;
}  // namespace control

// A form is the low 15 bits of a packed record's word 0: extra flag, kind and low byte.
inline constexpr std::uint32_t kFormMask = 0x7fff;

inline constexpr std::uint32_t kMaxChunkEvents = 1u << 20;
inline constexpr std::uint32_t kMaxSites = 1u << 24;
inline constexpr std::uint32_t kMaxCalls = 1u << 24;
inline constexpr std::uint32_t kMaxModules = 1u << 16;
inline constexpr std::uint32_t kNoOp = ~0u;

struct TraceOp {
  std::uint64_t address = 0;
  std::uint64_t stride = 0;
  std::uint64_t last_step = 0;  // address difference last seen; becomes the stride when seen twice in a row
  std::uint64_t near = 0;       // last distance from the thread's previous address
  std::uint64_t extra = 0;
  std::uint64_t value = 0;       // the last value if it was small, else 0
  std::uint32_t first = kNoOp;   // last successor
  std::uint32_t second = kNoOp;  // the one before
  std::uint32_t site = 0;
  std::uint16_t form = 0;
  ThreadId thread = 0;

  void learn_successor(std::uint32_t op) {
    if (first == op) return;
    second = first;
    first = op;
  }
  void learn_address(std::uint64_t now, std::uint64_t thread_address) {
    const std::uint64_t step = now - address;
    // One jump (a loop starting over) does not lose the stride.
    if (step == last_step) stride = step;
    last_step = step;
    near = now - thread_address;
    address = now;
  }
};

// Per thread: its last op and address.
struct TraceThreadState {
  std::uint32_t op = kNoOp;
  std::uint64_t address = 0;
};

// The per-thread states, reset in time proportional to the threads seen.
class TraceThreads {
 public:
  TraceThreadState& operator[](ThreadId thread) {
    if (thread >= states_.size()) states_.resize(thread + std::size_t{1});
    return states_[thread];
  }
  void reset() { states_.clear(); }

 private:
  std::vector<TraceThreadState> states_;
};

}  // namespace reweave
