#include "recorder/core/code_search.h"

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

constexpr Bytes kEscape = all(0x0f), kGroup9 = all(0xc7), kGroup15 = all(0xae), kPage = all(0x60), kTop = all(0xff);
constexpr std::uint64_t kStep = sizeof(Bytes);

// Steps over blocks of 16 places of which none is wanted; at the most to `limit`. All vector registers belong to the
// program: those used are put back.
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
      "movdqa %%xmm0, %%xmm2\n\t"
      "movdqa %%xmm1, %%xmm3\n\t"
      "movdqa %%xmm1, %%xmm4\n\t"
      "pcmpeqb %[group9], %%xmm1\n\t"
      "pcmpeqb %[group15], %%xmm3\n\t"
      "pcmpeqb %[escape], %%xmm0\n\t"
      "por %%xmm3, %%xmm1\n\t"
      "pcmpeqb %[page], %%xmm2\n\t"
      "pcmpeqb %[top], %%xmm4\n\t"
      "pand %%xmm1, %%xmm0\n\t"
      "pand %%xmm4, %%xmm2\n\t"
      "por %%xmm2, %%xmm0\n\t"
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
      : [limit] "r"(limit), [step] "i"(kStep), [escape] "m"(kEscape), [group9] "m"(kGroup9), [group15] "m"(kGroup15),
        [page] "m"(kPage), [top] "m"(kTop)
      : "memory", "cc");
  return at;
}

bool is_wanted(std::uint64_t at) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(at);
  return code[0] == 0x0f ? code[1] == 0xc7 || code[1] == 0xae : code[0] == 0x60 && code[1] == 0xff;
}

}  // namespace

std::uint64_t find_rare_pair(std::uint64_t at, std::uint64_t end) {
  if (at + kStep < end) at = skip_blocks(at, end - kStep);
  while (at < end && !is_wanted(at)) at++;
  return at;
}

}  // namespace reweave::core
