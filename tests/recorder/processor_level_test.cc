// A program sees only the processor features of its level. Each test starts from a CPUID answer with all bits set.
#define BOOST_TEST_MODULE processor_level
#include "recorder/core/processor/processor_level.h"

#include <cpuid.h>
#include <boost/test/unit_test.hpp>

#include <array>

namespace {

constexpr std::uint64_t kAll = 0xffffffff;
enum Register { kEax, kEbx, kEcx, kEdx };

using Answer = std::uint64_t[4];

bool is_left(std::uint32_t level, std::uint64_t leaf, std::uint64_t subleaf, Register in, unsigned bit) {
  Answer answer = {kAll, kAll, kAll, kAll};
  reweave::core::hide_from_cpuid(level, leaf, subleaf, answer);
  return (answer[in] >> bit & 1) != 0;
}

struct Feature {
  const char* name;
  std::uint64_t leaf;
  Register in;
  unsigned bit;
  std::uint32_t first_level;  // lowest level with the feature; 5: no level has it
};

// Levels: AMD64 psABI, "Micro-Architecture Levels". Bits: Intel SDM and AMD manual.
constexpr Feature kFeatures[] = {
    {"sse2", 1, kEdx, 26, 2},          {"ssse3", 1, kEcx, 9, 2},
    {"sse4.2", 1, kEcx, 20, 2},        {"popcnt", 1, kEcx, 23, 2},
    {"cx16", 1, kEcx, 13, 2},          {"lahf", 0x80000001, kEcx, 0, 2},
    {"avx", 1, kEcx, 28, 3},           {"avx2", 7, kEbx, 5, 3},
    {"bmi1", 7, kEbx, 3, 3},           {"bmi2", 7, kEbx, 8, 3},
    {"f16c", 1, kEcx, 29, 3},          {"fma", 1, kEcx, 12, 3},
    {"movbe", 1, kEcx, 22, 3},         {"osxsave", 1, kEcx, 27, 3},
    {"lzcnt", 0x80000001, kEcx, 5, 3}, {"avx512f", 7, kEbx, 16, 4},
    {"avx512bw", 7, kEbx, 30, 4},      {"avx512cd", 7, kEbx, 28, 4},
    {"avx512dq", 7, kEbx, 17, 4},      {"avx512vl", 7, kEbx, 31, 4},
    {"sha", 7, kEbx, 29, 5},           {"rtm", 7, kEbx, 11, 5},
    {"vaes", 7, kEcx, 9, 5},           {"gfni", 7, kEcx, 8, 5},
    {"amx", 7, kEdx, 24, 5},           {"3dnow", 0x80000001, kEdx, 31, 5},
    {"sse4a", 0x80000001, kEcx, 6, 5},
};

}  // namespace

BOOST_AUTO_TEST_CASE(features_by_level) {
  for (const Feature& feature : kFeatures)
    for (std::uint32_t level = 2; level <= 4; level++)
      BOOST_TEST(is_left(level, feature.leaf, 0, feature.in, feature.bit) == (level >= feature.first_level),
                 feature.name << " at level " << level);
}

BOOST_AUTO_TEST_CASE(without_a_level_all_is_left) {
  for (const Feature& feature : kFeatures) {
    BOOST_TEST(is_left(0, feature.leaf, 0, feature.in, feature.bit));
    BOOST_TEST(is_left(5, feature.leaf, 0, feature.in, feature.bit));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_feature_is_left) {
  for (const std::uint64_t leaf : {0x0ull, 0x4ull, 0xbull, 0x40000000ull, 0x80000002ull, 0x8000001dull}) {
    Answer answer = {1, 2, 3, kAll};
    reweave::core::hide_from_cpuid(2, leaf, 0, answer);
    BOOST_TEST((answer[0] == 1 && answer[1] == 2 && answer[2] == 3 && answer[3] == kAll), leaf);
  }
}

// XSAVE writes all state that the processor has, so a smaller reported size would make it write past the buffer.
BOOST_AUTO_TEST_CASE(size_of_the_state_is_left) {
  for (std::uint32_t level = 2; level <= 4; level++) {
    Answer answer = {0xe7, 0x988, 0x988, 0};
    reweave::core::hide_from_cpuid(level, 0xd, 0, answer);
    BOOST_TEST((answer[0] == 0xe7 && answer[1] == 0x988 && answer[2] == 0x988));
  }
}

BOOST_AUTO_TEST_CASE(upper_halves_of_registers_do_not_count) {
  Answer answer = {kAll, kAll, kAll, kAll};
  reweave::core::hide_from_cpuid(3, 0xdead'0000'0007, 0xdead'0000'0000, answer);
  BOOST_TEST((answer[kEbx] >> 16 & 1) == 0);
}
