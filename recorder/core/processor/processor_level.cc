#include "recorder/core/processor/processor_level.h"

#include <initializer_list>

namespace reweave::core {

namespace {

constexpr std::uint32_t kLeast = 2, kLevels = 3;  // x86-64-v2 to v4
constexpr std::uint32_t kAll = ~std::uint32_t{0};

constexpr std::uint32_t bits(std::initializer_list<int> numbers) {
  std::uint32_t set = 0;
  for (const int number : numbers) set |= std::uint32_t{1} << number;
  return set;
}

// The bits of an answer that remain, by level. The components that XSAVE saves (leaf 0xd) and their sizes are
// unchanged, because the processor saves all of them. If a leaf has several rows, the last one is for all subleaves
// without a row.
struct Row {
  std::uint32_t leaf, subleaf;  // kAll: any
  std::uint32_t kept[kLevels][4];
};

constexpr std::uint32_t kV2 = bits({0, 9, 13, 19, 20, 23, 31});  // SSE3, SSSE3, CMPXCHG16B, SSE4, POPCNT; a hypervisor
constexpr std::uint32_t kV3 =
    kV2 | bits({1, 12, 22, 25, 26, 27, 28, 29, 30});                // PCLMUL, FMA, MOVBE, AES, XSAVE, AVX ..
constexpr std::uint32_t kFast = bits({9}), kFastShort = bits({4});  // rep movsb, which are only hints
constexpr std::uint32_t kV3Extended = kFast | bits({0, 3, 5, 8});   // FSGSBASE, BMI1, AVX2, BMI2
constexpr std::uint32_t kV4Extended = kV3Extended | bits({16, 17, 28, 30, 31});  // AVX-512 F, DQ, CD, BW, VL
constexpr std::uint32_t kAmdV2 = bits({0}), kAmdV3 = kAmdV2 | bits({5, 8});      // LAHF; LZCNT, PREFETCHW
constexpr std::uint32_t kAmdOld = ~bits({22, 30, 31});                           // MMX extensions, 3DNow!
constexpr std::uint32_t kXsaveopt = bits({0}), kXsavec = kXsaveopt | bits({1});

constexpr Row kRows[] = {
    {0x1, kAll, {{kAll, kAll, kV2, kAll}, {kAll, kAll, kV3, kAll}, {kAll, kAll, kV3, kAll}}},
    {0x7, 0, {{0, kFast, 0, kFastShort}, {0, kV3Extended, 0, kFastShort}, {0, kV4Extended, 0, kFastShort}}},
    {0x7, kAll, {}},
    {0xd, 1, {{0, kAll, kAll, kAll}, {kXsaveopt, kAll, kAll, kAll}, {kXsavec, kAll, kAll, kAll}}},
    {0x14, kAll, {}},  // processor trace
    {0x19, kAll, {}},  // key locker
    {0x1d, kAll, {}},  // tiles
    {0x1e, kAll, {}},
    {0x24, kAll, {}},  // AVX10
    {0x80000001, kAll, {{kAll, kAll, kAmdV2, kAmdOld}, {kAll, kAll, kAmdV3, kAmdOld}, {kAll, kAll, kAmdV3, kAmdOld}}},
    {0x80000008, kAll, {{kAll, 0, kAll, kAll}, {kAll, 0, kAll, kAll}, {kAll, 0, kAll, kAll}}},
};

}  // namespace

void hide_from_cpuid(std::uint32_t level, std::uint64_t leaf, std::uint64_t subleaf, std::uint64_t (&values)[4]) {
  if (level < kLeast || level >= kLeast + kLevels) return;
  const auto asked = static_cast<std::uint32_t>(leaf), of = static_cast<std::uint32_t>(subleaf);
  for (const Row& row : kRows) {
    if (row.leaf != asked || (row.subleaf != kAll && row.subleaf != of)) continue;
    for (int i = 0; i < 4; i++) values[i] &= row.kept[level - kLeast][i];
    return;
  }
}

}  // namespace reweave::core
