// Makes a recording independent of the machine that it was made on.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct PackResult {
  std::uint64_t files = 0;        // mapped files now in the recording
  std::uint64_t added = 0;        // of those, added by this call
  std::uint64_t debug_files = 0;  // files with separate debug information
  std::uint64_t bytes = 0;        // of all copies
};

// Copies every file that the recorded program mapped into the recording, if it is not there yet. `debug_info`: copies
// their separate debug information as well, if this machine has it. The manifest, which names the copies, is replaced
// last: an interrupted pack leaves the recording unchanged. Throws BadInput if a file is not the recorded one.
PackResult pack_recording(const std::string& path, bool debug_info);

}  // namespace reweave
