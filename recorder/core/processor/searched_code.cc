#include "recorder/core/processor/searched_code.h"

#include "recorder/core/log/checksum.h"
#include "recorder/core/syscalls/files/written_files.h"

namespace reweave::core {

std::uint64_t name_of_code(const FileIdentity& file, std::uint64_t offset, std::uint64_t bytes) {
  // Modification times differ only if the changes are some milliseconds apart.
  const bool may_change = file.fresh || file.changeable || is_written_file(file.device, file.inode);
  if (may_change || config().mode != Mode::kRecord) return 0;
  return mix(mix(version_of(file), offset), bytes);
}

const SearchedCode* searched_code(std::uint64_t name, std::uint64_t start) {
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; name != 0 && i < s.searched_count; i++) {
    const SearchedCode& code = s.searched[i];
    if (code.name != name) continue;
    for (std::uint32_t k = 0; k < code.count; k++) {
      const std::uint64_t at = start + s.searched_places[code.first + k];
      if (find_rare_pair(at, at + 1) != at) return nullptr;
    }
    return &code;
  }
  return nullptr;
}

}  // namespace reweave::core
