#include "recorder/core/processor/tsc_source.h"

#include <linux/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

namespace {

constexpr long kRawClock = 4;                            // CLOCK_MONOTONIC_RAW
constexpr std::uint64_t kFirstSpanNs = 1'000'000;        // the rate is unknown before that
constexpr std::uint64_t kLongestSpanNs = 2'000'000'000;  // after that it is known well enough
constexpr unsigned kRateBits = 28;                       // of the fraction

struct Sample {
  std::uint64_t ticks;
  std::uint64_t ns;
};

Sample first, last;
std::uint64_t rate;       // ticks per nanosecond, with kRateBits of fraction; 0: unknown
std::uint64_t next_span;  // from the first sample to the next, in nanoseconds
std::uint64_t shown;      // the largest value returned so far

std::uint64_t raw_clock() {
  std::uint64_t time[2];
  sys(SYS_clock_gettime, kRawClock, time);
  return time[0] * 1'000'000'000 + time[1];
}

std::uint64_t counter() {
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

Sample take_sample() {
  sys(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE);
  const std::uint64_t ns = raw_clock();
  const std::uint64_t ticks = counter();
  sys(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
  return {ticks, ns};
}

void learn(const Sample& sample) {
  last = sample;
  if (first.ns == 0) first = sample;
  const std::uint64_t span = sample.ns - first.ns;
  if (span < kFirstSpanNs) return;
  if (span > 4 * kLongestSpanNs) {  // too long for the arithmetic: start over, or keep the known rate
    if (rate == 0) first = sample;
    next_span = span;
    return;
  }
  rate = ((sample.ticks - first.ticks) << kRateBits) / span;
  next_span = span * 4;
}

// Computed from the known rate, or read.
std::uint64_t value_now() {
  const std::uint64_t ns = rate == 0 ? 0 : raw_clock();
  const std::uint64_t span = ns - first.ns;
  if (rate == 0 || (span >= next_span && next_span <= kLongestSpanNs)) {
    learn(take_sample());
    return last.ticks;
  }
  const auto ticks = static_cast<unsigned __int128>(ns - last.ns) * rate >> kRateBits;
  return last.ticks + static_cast<std::uint64_t>(ticks);
}

}  // namespace

std::uint64_t read_tsc() {
  const std::uint64_t value = state().clock_reads_pass != 0 ? counter() : value_now();
  shown = value > shown ? value : shown + 1;
  return shown;
}

}  // namespace reweave::core
