// Reweave's own files that the core needs in every process of the target, even under a root directory without them.
// Each has a descriptor that is open from the start, and the path that the supervisor knows.
#pragma once

#include "recorder/arena.h"

namespace reweave {

struct OwnFile {
  int fd;
  const char* path;  // empty: not used in this mode
};

inline constexpr int kOwnFiles = 5;
struct OwnFiles {
  OwnFile items[kOwnFiles];
};

inline OwnFiles own_files(const RunConfig& config) {
  return {{{kCoreFd, config.core_path},
           {kShimFd, config.shim_path},
           {kTsanFd, config.tsan_path},
           {kPreloadFd, config.preload_path},
           {kTsanPreloadFd, config.tsan_preload_path}}};
}

}  // namespace reweave
