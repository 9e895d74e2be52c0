#include "recorder/supervisor/process/own_limits.h"

#include <algorithm>
#include <csignal>

#include "formats/base/error.h"

namespace reweave {

namespace {

rlimit limit_of(__rlimit_resource resource) {
  rlimit limit = {};
  SYSCALL_CHECK(getrlimit(resource, &limit), "asking for a resource limit");
  return limit;
}

}  // namespace

void fit_own_limits() {
  std::signal(SIGXFSZ, [](int) {});  // a handler, because exec resets it
  // A replayed program may execute others with as many arguments as when it was recorded. The kernel allows arguments
  // to take a quarter of this limit (execve(2)).
  constexpr rlim_t kWanted = rlim_t{64} << 20, kLeast = rlim_t{1} << 20;
  rlimit stack = limit_of(RLIMIT_STACK);
  REQUIRE(stack.rlim_max >= kLeast, "the hard stack limit is {} bytes, and Reweave needs {}; raise it with ulimit -Hs",
          stack.rlim_max, kLeast);
  if (stack.rlim_cur >= kWanted) return;
  stack.rlim_cur = std::min(kWanted, stack.rlim_max);
  SYSCALL_CHECK(setrlimit(RLIMIT_STACK, &stack), "raising the stack limit");
}

void check_limits_of_target() {
  constexpr rlim_t kCoreData = rlim_t{64} << 20;
  const rlimit files = limit_of(RLIMIT_NOFILE), data = limit_of(RLIMIT_DATA);
  REQUIRE(files.rlim_max >= kNeededDescriptors,
          "the hard limit of open descriptors is {}, and Reweave uses the numbers {} to {}; raise it with ulimit -Hn",
          files.rlim_max, kArenaFd, kNeededDescriptors - 1);
  REQUIRE(data.rlim_cur >= kCoreData,
          "the data limit is {} bytes, and Reweave needs {} of it beside the program; raise it with ulimit -d",
          data.rlim_cur, kCoreData);
}

}  // namespace reweave
