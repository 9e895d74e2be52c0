// Files of ours that the core needs wherever a process of the target is, also in a root without them: the descriptors
// under which it has them from the start, and what the supervisor calls them.
#pragma once

#include "recorder/arena.h"

namespace reweave {

struct OwnFile {
  int fd;
  const char* path;  // empty: there is none in this mode
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
