// The state from which the encoder and the decoder of an event block make the same predictions. Each reads the
// predictions for a record, codes the differences, then calls `learn`, so both stay in step.
//
// A call is predicted from the last one made at the same place (instruction and stack pointer, hashed), which in a loop
// is nearly the same call. A place that is new in this block falls back on the last call with the same number.
// Everything is reset at a block's start, so that blocks decode alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/wire.h"

namespace reweave {

// The halves of a call's context hash: where it was made, and a check of the callee-saved registers.
constexpr std::uint32_t place_of(std::uint64_t context) { return static_cast<std::uint32_t>(context >> 32); }
constexpr std::uint32_t check_of(std::uint64_t context) { return static_cast<std::uint32_t>(context); }

// The last call seen at one place or of one number.
struct CallState {
  std::uint64_t args[6] = {};
  std::uint64_t result = 0;
  std::uint64_t output_end = 0;     // end address of the last output
  std::uint64_t output_length = 0;  // of the last output
  std::uint32_t check = 0;
};

class EventModel {
 public:
  EventModel() { reset(); }

  void reset() {
    calls_.assign(1, {});
    successors_.assign(1, 0);
    place_before_.clear();
    by_number_.fill({});
    times_.fill(0);
    step = 0;
    clock_context = 0;
    thread = 0;
  }

  // Places known so far are 1..place_count().
  std::uint32_t place_count() const { return static_cast<std::uint32_t>(calls_.size() - 1); }
  // Predicts the place of the thread's next call: the one that came after its last call's place the previous time.
  // Returns 0 if that is unknown.
  std::uint32_t predicted_place(ThreadId of) { return successors_[before(of)]; }
  const CallState& call_in(std::uint32_t place, std::uint32_t number) const {
    return place <= place_count() ? calls_[place] : by_number_[number % kNumbers];
  }
  void learn(ThreadId of, std::uint32_t place, std::uint32_t number, const CallState& call) {
    if (place > place_count()) {
      calls_.push_back(call);
      successors_.push_back(0);
    } else {
      calls_[place] = call;
    }
    by_number_[number % kNumbers] = call;
    successors_[before(of)] = place;
    before(of) = place;
  }

  // The last reading of the clock, or of another clock that shares its slot.
  std::uint64_t& time_of(std::uint32_t clock) { return times_[clock % times_.size()]; }

  std::uint64_t step = 0;           // of the last record that has one
  std::uint32_t clock_context = 0;  // of the last clock reading
  ThreadId thread = 0;              // expected thread of the next record

 private:
  static constexpr std::size_t kNumbers = 512;

  std::uint32_t& before(ThreadId of) {
    if (of >= place_before_.size()) place_before_.resize(of + std::size_t{1});
    return place_before_[of];
  }

  std::vector<CallState> calls_;           // by place; [0] unused
  std::vector<std::uint32_t> successors_;  // by place; [0] for a thread's first call
  std::vector<std::uint32_t> place_before_;
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
inline constexpr std::uint8_t kLengthIsResult = 8;  // the length is the call's result; else it is in `lengths`
inline constexpr std::uint8_t kReserved = 0xf0;     // zero
}  // namespace output_shape

// Largest record that a recording can hold.
inline constexpr std::uint32_t kMaxRecordBytes = 32u << 20;
inline constexpr std::uint32_t kMaxBlockRecords = 1u << 24;

}  // namespace reweave
