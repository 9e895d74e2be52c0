#include "recorder/core/syscalls/files/system_paths.h"

#include "recorder/core/base/words.h"
#include "recorder/system_files.h"

namespace reweave::core {

bool belongs_to_system(const char* path) {
  if (state().roots_differ != 0) return false;
  for (const char* folder : kSystemFolders)
    if (starts_with(path, folder)) return true;
  return starts_with(path, "/etc/");
}

}  // namespace reweave::core
