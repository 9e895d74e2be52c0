// Finds separate debug information on this machine, where distributions put it (elfutils' search: build-id folders,
// .gnu_debuglink).
#pragma once

#include <string>
#include <vector>

#include "formats/base/fd.h"

namespace reweave {

struct FoundDebugFile {
  std::string build_id;  // in hex: that of the ELF file it belongs to, or its own for a supplementary file
  std::string path;
};

// Finds the separate debug information of the ELF file `file`, which is or was at `path`, and the supplementary file
// (.gnu_debugaltlink) that the debug information refers to. Empty if there is none, if the debug information is in
// `file` itself, or if `file` is not an ELF file.
std::vector<FoundDebugFile> find_debug_files(Fd file, const std::string& path);

}  // namespace reweave
