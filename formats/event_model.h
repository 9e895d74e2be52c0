// What the encoder and the decoder of an event block both predict from. Kept in step by both sides: each reads the
// predictions for a record first, codes the differences, then calls `learn`.
//
// A call is predicted from the last one with the same context (instruction pointer, stack and callee-saved registers,
// hashed), which in a loop is nearly the same call; a context met for the first time in this block falls back on the
// last call with the same number. Everything is reset at a block's start, so that blocks decode alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/wire.h"

namespace reweave {

// The last call seen at one context or of one number.
struct CallState {
  std::uint64_t args[6] = {};
  std::uint64_t result = 0;
  std::uint64_t output_end = 0;     // address behind the last output
  std::uint64_t output_length = 0;  // of the last output
};

class EventModel {
 public:
  EventModel() { reset(); }

  void reset() {
    calls_.assign(1, {});
    successors_.assign(1, 0);
    context_before_.clear();
    by_number_.fill({});
    times_.fill(0);
    step = 0;
    clock_context = 0;
    thread = 0;
  }

  // Contexts known so far are 1..context_count().
  std::uint32_t context_count() const { return static_cast<std::uint32_t>(calls_.size() - 1); }
  // The context that followed this thread's last one when that was last met; 0: no idea.
  std::uint32_t predicted_context(ThreadId of) { return successors_[before(of)]; }
  const CallState& call_in(std::uint32_t context, std::uint32_t number) const {
    return context <= context_count() ? calls_[context] : by_number_[number % kNumbers];
  }
  void learn(ThreadId of, std::uint32_t context, std::uint32_t number, const CallState& call) {
    if (context > context_count()) {
      calls_.push_back(call);
      successors_.push_back(0);
    } else {
      calls_[context] = call;
    }
    by_number_[number % kNumbers] = call;
    successors_[before(of)] = context;
    before(of) = context;
  }

  // What that clock showed when it was last read, or another of the same slot.
  std::uint64_t& time_of(std::uint32_t clock) { return times_[clock % times_.size()]; }

  std::uint64_t step = 0;           // of the last record that has one
  std::uint32_t clock_context = 0;  // of the last time that a clock was read
  ThreadId thread = 0;              // expected of the next record

 private:
  static constexpr std::size_t kNumbers = 512;

  std::uint32_t& before(ThreadId of) {
    if (of >= context_before_.size()) context_before_.resize(of + std::size_t{1});
    return context_before_[of];
  }

  std::vector<CallState> calls_;           // by context; [0] unused
  std::vector<std::uint32_t> successors_;  // by context; [0] for a thread's first call
  std::vector<std::uint32_t> context_before_;
  std::array<CallState, kNumbers> by_number_;
  std::array<std::uint64_t, 16> times_{};
};

// Layout of a byte of the `heads` column.
namespace event_head {
inline constexpr std::uint8_t kKindMask = 0x1f;
inline constexpr std::uint8_t kRaw = 0x20;       // the record's bytes are in `raw`
inline constexpr std::uint8_t kThread = 0x40;    // its thread is in `threads`
inline constexpr std::uint8_t kReserved = 0x80;  // zero
}  // namespace event_head

// Layout of a byte of the `shapes` column.
namespace output_shape {
inline constexpr std::uint8_t kBaseMask = 7;        // 0..5: the address is that argument
inline constexpr std::uint8_t kExplicit = 6;        // the address is in `addresses`
inline constexpr std::uint8_t kLengthIsResult = 8;  // else it is in `lengths`
inline constexpr std::uint8_t kReserved = 0xf0;     // zero
}  // namespace output_shape

// Largest record that a recording can hold.
inline constexpr std::uint32_t kMaxRecordBytes = 32u << 20;
inline constexpr std::uint32_t kMaxBlockRecords = 1u << 24;

}  // namespace reweave
