// Makes a recording independent of the machine that it was made on.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct PackResult {
  std::uint64_t files = 0;        // mapped files that the recording holds now
  std::uint64_t added = 0;        // of those, kept by this call
  std::uint64_t debug_files = 0;  // of separate debug information
  std::uint64_t bytes = 0;        // of all copies
};

// Copies every file that the recorded program mapped into the recording, if it is not there yet; `debug_info`: also the
// separate debug information of those, as far as this machine has it. The manifest, which is replaced last, names the
// copies: a pack that is interrupted leaves the recording as it was. Throws BadInput if a file is not the recorded one.
PackResult pack_recording(const std::string& path, bool debug_info);

}  // namespace reweave
