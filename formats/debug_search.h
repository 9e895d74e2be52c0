// Finds separate debug information on this machine, where distributions put it (elfutils' search: build-id folders,
// .gnu_debuglink).
#pragma once

#include <string>
#include <vector>

#include "formats/fd.h"

namespace reweave {

struct FoundDebugFile {
  std::string build_id;  // in hex; of the ELF file it is for, or its own if debug information refers to it
  std::string path;
};

// For the ELF file `file`, which is or was at `path`: its separate debug information and what that refers to
// (.gnu_debugaltlink). Empty if there is none, or it has its debug information in it, or is no ELF file.
std::vector<FoundDebugFile> find_debug_files(Fd file, const std::string& path);

}  // namespace reweave
