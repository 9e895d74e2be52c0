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

// Pairs of bytes: one with either of two behind it, and another.
struct Pairs {
  std::uint8_t first, second, or_second;
  std::uint8_t other_first, other_second;
  Bytes firsts, seconds, or_seconds, other_firsts, other_seconds;
  constexpr Pairs(std::uint8_t a, std::uint8_t b, std::uint8_t or_b, std::uint8_t c, std::uint8_t d)
      : first(a),
        second(b),
        or_second(or_b),
        other_first(c),
        other_second(d),
        firsts(all(a)),
        seconds(all(b)),
        or_seconds(all(or_b)),
        other_firsts(all(c)),
        other_seconds(all(d)) {}
};

constexpr Pairs kRare(0x0f, 0xc7, 0xae, 0x60, 0xff);
constexpr Pairs kInput(0x0f, 0x31, 0x01, 0x0f, 0xa2);
constexpr std::uint64_t kStep = sizeof(Bytes);

// Steps over blocks of 16 places of which none is wanted; at the most to `limit`. All vector registers belong to the
// program: those used are put back.
std::uint64_t skip_blocks(std::uint64_t at, std::uint64_t limit, const Pairs& pairs) {
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
      "pcmpeqb %[seconds], %%xmm1\n\t"
      "pcmpeqb %[or_seconds], %%xmm3\n\t"
      "pcmpeqb %[firsts], %%xmm0\n\t"
      "por %%xmm3, %%xmm1\n\t"
      "pcmpeqb %[other_firsts], %%xmm2\n\t"
      "pcmpeqb %[other_seconds], %%xmm4\n\t"
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
      : [limit] "r"(limit), [step] "i"(kStep), [firsts] "m"(pairs.firsts), [seconds] "m"(pairs.seconds),
        [or_seconds] "m"(pairs.or_seconds), [other_firsts] "m"(pairs.other_firsts),
        [other_seconds] "m"(pairs.other_seconds)
      : "memory", "cc");
  return at;
}

bool is_wanted(std::uint64_t at, const Pairs& pairs) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(at);
  if (code[0] == pairs.first && (code[1] == pairs.second || code[1] == pairs.or_second)) return true;
  return code[0] == pairs.other_first && code[1] == pairs.other_second;
}

std::uint64_t find(std::uint64_t at, std::uint64_t end, const Pairs& pairs) {
  if (at + kStep < end) at = skip_blocks(at, end - kStep, pairs);
  while (at < end && !is_wanted(at, pairs)) at++;
  return at;
}

}  // namespace

std::uint64_t find_rare_pair(std::uint64_t at, std::uint64_t end) { return find(at, end, kRare); }
std::uint64_t find_input_pair(std::uint64_t at, std::uint64_t end) { return find(at, end, kInput); }

}  // namespace reweave::core
