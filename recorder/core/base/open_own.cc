#include "recorder/core/base/open_own.h"

#include <fcntl.h>

#include "recorder/core/base/sys.h"

namespace reweave::core {

long open_own(long folder, const char* path, long flags) {
  long fd = sys(SYS_openat, folder, path, flags | O_CLOEXEC);
  if (fd != -EMFILE) return fd;
  constexpr long kDescriptors = 7;  // RLIMIT_NOFILE
  std::uint64_t limit[2] = {};
  sys(SYS_prlimit64, 0, kDescriptors, nullptr, limit);
  const std::uint64_t raised[2] = {limit[1], limit[1]};
  if (is_error(sys(SYS_prlimit64, 0, kDescriptors, raised, nullptr))) return fd;
  fd = sys(SYS_openat, folder, path, flags | O_CLOEXEC);
  sys(SYS_prlimit64, 0, kDescriptors, limit, nullptr);
  return fd;
}

}  // namespace reweave::core
