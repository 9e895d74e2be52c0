#include "recorder/core/code/code_search.h"

namespace reweave::core {

namespace {

struct alignas(16) Bytes {
  std::uint8_t byte[16];
};

constexpr Bytes all(std::uint8_t byte) {
  Bytes bytes = {};
  for (std::uint8_t& each : bytes.byte) each = byte;
  return bytes;
}

constexpr std::uint8_t kFirst = 0x0f, kSeconds[] = {0xc7, 0xae, 0x31, 0x01, 0xa2};
constexpr std::uint8_t kOtherFirst = 0x60, kOtherSecond = 0xff;
constexpr Bytes kFirsts = all(kFirst), kSecond0 = all(kSeconds[0]), kSecond1 = all(kSeconds[1]),
                kSecond2 = all(kSeconds[2]), kSecond3 = all(kSeconds[3]), kSecond4 = all(kSeconds[4]),
                kOtherFirsts = all(kOtherFirst), kOtherSeconds = all(kOtherSecond);
constexpr std::uint64_t kStep = sizeof(Bytes);

// Skips blocks of 16 places without a match, up to `limit`. All vector registers belong to the program, so those used
// are restored.
std::uint64_t skip_blocks(std::uint64_t at, std::uint64_t limit) {
  Bytes saved[5];
  std::uint64_t found;
  asm volatile(
      "movdqu %%xmm0, %[s0]\n\t"
      "movdqu %%xmm1, %[s1]\n\t"
      "movdqu %%xmm2, %[s2]\n\t"
      "movdqu %%xmm3, %[s3]\n\t"
      "movdqu %%xmm4, %[s4]\n"
      "1:\n\t"
      "movdqu (%[at]), %%xmm0\n\t"
      "movdqu 1(%[at]), %%xmm1\n\t"
      "movdqa %%xmm1, %%xmm2\n\t"
      "movdqa %%xmm1, %%xmm3\n\t"
      "pcmpeqb %[second0], %%xmm2\n\t"
      "pcmpeqb %[second1], %%xmm3\n\t"
      "movdqa %%xmm1, %%xmm4\n\t"
      "por %%xmm3, %%xmm2\n\t"
      "pcmpeqb %[second2], %%xmm4\n\t"
      "movdqa %%xmm1, %%xmm3\n\t"
      "por %%xmm4, %%xmm2\n\t"
      "pcmpeqb %[second3], %%xmm3\n\t"
      "movdqa %%xmm1, %%xmm4\n\t"
      "por %%xmm3, %%xmm2\n\t"
      "pcmpeqb %[second4], %%xmm4\n\t"
      "movdqa %%xmm0, %%xmm3\n\t"
      "por %%xmm4, %%xmm2\n\t"
      "pcmpeqb %[firsts], %%xmm0\n\t"
      "pcmpeqb %[other_seconds], %%xmm1\n\t"
      "pcmpeqb %[other_firsts], %%xmm3\n\t"
      "pand %%xmm2, %%xmm0\n\t"
      "pand %%xmm3, %%xmm1\n\t"
      "por %%xmm1, %%xmm0\n\t"
      "pmovmskb %%xmm0, %k[found]\n\t"
      "test %k[found], %k[found]\n\t"
      "jnz 2f\n\t"
      "add %[step], %[at]\n\t"
      "cmp %[limit], %[at]\n\t"
      "jb 1b\n"
      "2:\n\t"
      "movdqu %[s0], %%xmm0\n\t"
      "movdqu %[s1], %%xmm1\n\t"
      "movdqu %[s2], %%xmm2\n\t"
      "movdqu %[s3], %%xmm3\n\t"
      "movdqu %[s4], %%xmm4\n\t"
      : [at] "+r"(at), [found] "=&r"(found), [s0] "=m"(saved[0]), [s1] "=m"(saved[1]), [s2] "=m"(saved[2]),
        [s3] "=m"(saved[3]), [s4] "=m"(saved[4])
      : [limit] "r"(limit), [step] "i"(kStep), [firsts] "m"(kFirsts), [second0] "m"(kSecond0), [second1] "m"(kSecond1),
        [second2] "m"(kSecond2), [second3] "m"(kSecond3), [second4] "m"(kSecond4), [other_firsts] "m"(kOtherFirsts),
        [other_seconds] "m"(kOtherSeconds)
      : "memory", "cc");
  return at;
}

bool is_wanted(std::uint64_t at) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(at);
  if (code[0] == kOtherFirst) return code[1] == kOtherSecond;
  if (code[0] != kFirst) return false;
  for (const std::uint8_t second : kSeconds)
    if (code[1] == second) return true;
  return false;
}

}  // namespace

std::uint64_t find_rare_pair(std::uint64_t at, std::uint64_t end) {
  if (at + kStep < end) at = skip_blocks(at, end - kStep);
  while (at < end && !is_wanted(at)) at++;
  return at;
}

}  // namespace reweave::core
