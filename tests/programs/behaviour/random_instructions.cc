// Values that come from the processor itself: std::random_device, RDRAND and RDSEED with registers of each width, and
// RDPID, if it supports these. A replay must print the same values.
#include <cpuid.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

#define ASK(instruction, type)                                                     \
  do {                                                                             \
    type value = 0;                                                                \
    unsigned char valid = 0;                                                       \
    for (int i = 0; i < 1000 && valid == 0; i++)                                   \
      asm volatile(instruction "; setc %1" : "+r"(value), "=qm"(valid)::"cc");     \
    require(valid == 1, instruction);                                              \
    std::printf("%s %llx\n", instruction, static_cast<unsigned long long>(value)); \
  } while (false)

// Unusual code: a high register, a value that is stored before the flag is tested, a short register whose upper bits
// stay, and instructions that a compiler puts between rdrand and the test of the flag.
void odd_forms() {
  std::uint64_t wide = 0, kept = 0, moved = 0;
  asm volatile("1: rdrand %%r12; mov %%r12, %0; jnc 1b" : "=m"(wide)::"r12", "cc");
  asm volatile("1: mov $0x123456789abcdef0, %%r9; rdrand %%r9w; jnc 1b; mov %%r9, %0" : "=r"(kept)::"r9", "cc");
  require(kept >> 16 == 0x123456789abc, "the upper bits are kept");
  asm volatile(
      "1: rdrand %%rsi; mov $1, %%eax; lea 1b(%%rip), %%rbx; movzbl %%al, %%ecx; cmovae %%esi, %%eax; cmp $1, "
      "%%eax; jne 1b; mov %%rsi, %0"
      : "=r"(moved)::"rax", "rbx", "rcx", "rsi", "cc");
  std::printf("%llx %llx %llx\n", static_cast<unsigned long long>(wide), static_cast<unsigned long long>(kept),
              static_cast<unsigned long long>(moved));
}

void processor() {
  std::uint64_t low = ~std::uint64_t{0}, high = low;
  bool carry = false;
  asm volatile("stc; rdpid %0; setc %1" : "=a"(low), "=qm"(carry)::"cc");
  asm volatile("rdpid %%r10; mov %%r10, %0" : "=r"(high)::"r10");
  require(carry && low < 1 << 20 && high < 1 << 20, "a number");
  std::printf("rdpid %llu\n", static_cast<unsigned long long>(low & 0xfff));
}

// The same bytes in a constant are not such an instruction.
std::uint64_t constants() {
  std::uint64_t value;
  asm volatile("movabs $0x33f0c70ff0c70f33, %0" : "=r"(value));
  return value;
}

}  // namespace

int main() {
  std::random_device device;
  std::printf("device %u %u\n", device(), device());
  require(constants() == 0x33f0c70ff0c70f33, "constants stay");
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_RDRND) != 0) {
    ASK("rdrand %0", std::uint16_t);
    ASK("rdrand %0", std::uint32_t);
    ASK("rdrand %0", std::uint64_t);
    odd_forms();
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_RDSEED) != 0) {
    ASK("rdseed %0", std::uint32_t);
    ASK("rdseed %0", std::uint64_t);
  }
  constexpr unsigned kRdpid = 1u << 22;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kRdpid) != 0) processor();
  return 0;
}
