// Converts the floating-point state of signal frames to the layout of another processor and back.
#define BOOST_TEST_MODULE fp_state
#include "recorder/core/signals/fp_state.h"

#include <cpuid.h>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <random>
#include <vector>

using namespace reweave;
using namespace reweave::core;

namespace {

constexpr std::size_t kNote = 464, kHeader = 512, kAvx = 576, kAvxBytes = 256, kMxcsr = 24, kMxcsrMask = 28, kXmm = 160;
constexpr std::size_t kStatus = 2, kLastInstruction = 6, kLastEnd = 24;
constexpr std::uint8_t kPending = 0x80;  // bit of the status word: an x87 exception is pending
constexpr std::uint32_t kFirstMagic = 0x46505853, kSecondMagic = 0x46505845;

constexpr FpLayout kNehalem = {580, 576, 3, 0xffff}, kHaswell = {836, 832, 7, 0xffff},
                   kZen4 = {2436, 2432, 0xe7, 0x2ffff}, kSkylake = {2692, 2688, 0xe7, 0xffff};

// One frame's state, aligned to 64 bytes as XRSTOR requires.
class State {
 public:
  explicit State(std::size_t bytes) : room_(bytes + 64) {}
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(room_.data());
    return room_.data() + (64 - address % 64) % 64;
  }
  template <typename Value>
  Value at(std::size_t offset) {
    Value value;
    std::memcpy(&value, data() + offset, sizeof value);
    return value;
  }
  template <typename Value>
  void set(std::size_t offset, Value value) {
    std::memcpy(data() + offset, &value, sizeof value);
  }
  bool same(State& other, std::size_t offset, std::size_t bytes) {
    return std::memcmp(data() + offset, other.data() + offset, bytes) == 0;
  }

 private:
  std::vector<std::byte> room_;
};

// Returns random state as a kernel on a processor with this layout writes it. `in_use`: XSTATE_BV, a bit per component.
State kernels(const FpLayout& layout, std::uint64_t in_use, unsigned seed) {
  State state(layout.extended_bytes);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < 416; i++) state.set(i, static_cast<std::uint8_t>(random()));
  state.set(kStatus, static_cast<std::uint8_t>(state.at<std::uint8_t>(kStatus) | kPending));
  for (std::size_t i = kAvx; i < kAvx + kAvxBytes && i < layout.bytes; i++)
    state.set(i, static_cast<std::uint8_t>((in_use & 4) != 0 ? random() : 0));
  state.set(kMxcsr, std::uint32_t{0x1f80});
  state.set(kMxcsrMask, static_cast<std::uint32_t>(layout.mxcsr_mask));
  state.set(kNote, kFirstMagic);
  state.set(kNote + 4, layout.extended_bytes);
  state.set(kNote + 8, layout.components);
  state.set(kNote + 16, layout.bytes);
  state.set(kHeader, in_use);
  state.set(layout.bytes, kSecondMagic);
  return state;
}

}  // namespace

BOOST_AUTO_TEST_CASE(layout_is_read_from_a_frame) {
  for (const FpLayout& layout : {kNehalem, kHaswell, kZen4, kSkylake})
    BOOST_TEST((fp_layout_of(kernels(layout, 3, 1).data()) == layout));
  BOOST_TEST((fp_layout_of(nullptr) == FpLayout{}));
}

BOOST_AUTO_TEST_CASE(there_and_back) {
  for (const FpLayout& here : {kHaswell, kZen4, kSkylake})
    for (const FpLayout& there : {kHaswell, kZen4, kSkylake})
      for (const std::uint64_t in_use : {3u, 7u}) {
        State before = kernels(here, in_use, 2), now = kernels(here, 7, 3), shown(there.extended_bytes);
        BOOST_TEST(lay_out_fp_state(shown.data(), before.data(), there));
        BOOST_TEST((fp_layout_of(shown.data()) == there));
        BOOST_TEST(restore_laid_out(now.data(), shown.data(), there));
        BOOST_TEST((fp_layout_of(now.data()) == here));
        BOOST_TEST(now.same(before, 0, kMxcsrMask));
        BOOST_TEST(now.same(before, kXmm, 256));
        BOOST_TEST((now.at<std::uint64_t>(kHeader) & 4) == (in_use & 4));
        if (in_use == 7) BOOST_TEST(now.same(before, kAvx, kAvxBytes));
      }
}

BOOST_AUTO_TEST_CASE(what_is_shown_does_not_tell_of_this_processor) {
  State on_haswell = kernels(kHaswell, 7, 4), on_skylake = kernels(kSkylake, 7, 4);
  State from_haswell(kZen4.extended_bytes), from_skylake(kZen4.extended_bytes);
  BOOST_TEST(lay_out_fp_state(from_haswell.data(), on_haswell.data(), kZen4));
  BOOST_TEST(lay_out_fp_state(from_skylake.data(), on_skylake.data(), kZen4));
  BOOST_TEST(from_haswell.same(from_skylake, 0, kZen4.extended_bytes));
}

BOOST_AUTO_TEST_CASE(of_a_processor_without_avx) {
  State before = kernels(kNehalem, 3, 5), now = kernels(kNehalem, 3, 6), shown(kHaswell.extended_bytes);
  BOOST_TEST(lay_out_fp_state(shown.data(), before.data(), kHaswell));
  BOOST_TEST(restore_laid_out(now.data(), shown.data(), kHaswell));
  BOOST_TEST(now.same(before, kXmm, 256));
  State there = kernels(kHaswell, 7, 7), small(kNehalem.extended_bytes);
  BOOST_TEST(lay_out_fp_state(small.data(), there.data(), kNehalem));
  BOOST_TEST(small.at<std::uint64_t>(kHeader) == 3);
}

BOOST_AUTO_TEST_CASE(what_others_keep_elsewhere_is_not_lost) {
  State state = kernels(kZen4, 7 | 1 << 5, 8);
  State shown(kHaswell.extended_bytes);
  for (std::size_t i = 832; i < kZen4.bytes; i++) state.set(i, std::uint8_t{1});
  BOOST_TEST(!lay_out_fp_state(shown.data(), state.data(), kHaswell));
}

BOOST_AUTO_TEST_CASE(refuses_what_the_processor_would) {
  State now = kernels(kHaswell, 7, 9), shown(kZen4.extended_bytes), before = kernels(kHaswell, 7, 10);
  BOOST_TEST(lay_out_fp_state(shown.data(), before.data(), kZen4));
  shown.set(kMxcsr, ~std::uint32_t{0});
  BOOST_TEST(!restore_laid_out(now.data(), shown.data(), kZen4));
  shown.set(kMxcsr, std::uint32_t{0x1f80});
  shown.set(kHeader, std::uint64_t{1} << 40);
  BOOST_TEST(!restore_laid_out(now.data(), shown.data(), kZen4));
}

// Emulators write only the 10 bytes of an x87 register, and leave the rest of its 16-byte slot as it was.
BOOST_AUTO_TEST_CASE(what_was_behind_an_x87_register_is_not_shown) {
  constexpr std::size_t kX87 = 32, kX87Room = 16, kX87Bytes = 10;
  State state = kernels(kHaswell, 7, 11), copy(kHaswell.extended_bytes), shown(kZen4.extended_bytes);
  copy_fp_state(copy.data(), state.data(), kHaswell.extended_bytes);
  BOOST_TEST(lay_out_fp_state(shown.data(), state.data(), kZen4));
  for (std::size_t at = kX87; at < kXmm; at += kX87Room) {
    BOOST_TEST(copy.same(state, at, kX87Bytes));
    BOOST_TEST(shown.same(state, at, kX87Bytes));
    for (std::size_t i = kX87Bytes; i < kX87Room; i++) {
      BOOST_TEST(copy.at<std::uint8_t>(at + i) == 0);
      BOOST_TEST(shown.at<std::uint8_t>(at + i) == 0);
    }
  }
}

// Two frames hold the same state, on stacks that had different contents before.
BOOST_AUTO_TEST_CASE(left_overs_are_not_copied) {
  constexpr std::uint32_t kKeys = 9;
  unsigned size = 0, offset = 0, unused = 0;
  __cpuid_count(0xd, kKeys, size, offset, unused, unused);  // size 0: this processor has no protection keys
  State frames[] = {kernels(kSkylake, 7, 12), kernels(kSkylake, 7, 12)};
  State copies[] = {State(kSkylake.extended_bytes), State(kSkylake.extended_bytes)};
  std::uint8_t fill = 0x55;
  for (std::size_t i = 0; i < 2; i++, fill ^= 0xff) {
    State& frame = frames[i];
    frame.set(kStatus, std::uint8_t{0});
    for (std::size_t at = kLastInstruction; at < kLastEnd; at++) frame.set(at, fill);
    for (std::size_t at = 416; at < kNote; at++) frame.set(at, fill);
    for (std::size_t at = kAvx + kAvxBytes; at < kSkylake.bytes; at++) frame.set(at, fill);  // not in use
    if (size != 0) {
      frame.set(kHeader, std::uint64_t{7 | 1 << kKeys});
      frame.set(offset, std::uint32_t{0x55555554});
    }
    copy_fp_state(copies[i].data(), frame.data(), kSkylake.extended_bytes);
  }
  BOOST_TEST(copies[0].same(copies[1], 0, kSkylake.extended_bytes));
  BOOST_TEST(copies[0].same(frames[0], kAvx, kAvxBytes));
}
