#include "recorder/supervisor/ring/clock_keeper.h"

#include <sched.h>
#include <time.h>

namespace reweave {

namespace {

constexpr std::uint64_t kFastReads = 300;  // per millisecond; fewer spend less than a tenth of the time in the kernel
constexpr std::chrono::microseconds kLookEvery{1000};
constexpr std::uint64_t kWorthDraining = 64 << 10;  // bytes
// Pauses between two updates of the time, half a microsecond. If each of the target's reads found a new time, it would
// have to wait for the cache line from this processor.
constexpr int kPauses = 32;

std::int64_t nanoseconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The supervisor must not spin on the target's processor.
bool has_own_processor(const RunConfig& config) {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 && !CPU_ISSET(config.cpu, &cpus);
}

}  // namespace

bool ClockKeeper::look() {
  KeptTime& kept = arena_.header().kept_time;
  const auto now = Clock::now();
  if (now - since_ < kLookEvery) return fast_;
  const std::uint64_t reads = kept.reads.load(std::memory_order_relaxed);
  const auto milliseconds = static_cast<std::uint64_t>((now - since_) / kLookEvery);
  fast_ = reads - reads_ >= kFastReads * milliseconds && has_own_processor(arena_.header().config);
  if (!fast_) kept.monotonic.store(0, std::memory_order_relaxed);
  reads_ = reads;
  since_ = now;
  return fast_;
}

void ClockKeeper::keep() {
  KeptTime& kept = arena_.header().kept_time;
  const std::int64_t realtime =
      nanoseconds(CLOCK_REALTIME);  // read first, so that an error makes the result too small, not too large
  kept.to_realtime.store(realtime - nanoseconds(CLOCK_MONOTONIC), std::memory_order_relaxed);
  const auto until = Clock::now() + kLookEvery;
  while (Clock::now() < until && arena_.published().bytes < kWorthDraining)
    for (int i = 0; i < 8; i++) {
      kept.monotonic.store(nanoseconds(CLOCK_MONOTONIC), std::memory_order_relaxed);
      for (int j = 0; j < kPauses; j++) __builtin_ia32_pause();
    }
}

}  // namespace reweave
