#include "formats/recording/call_names.h"

#include <algorithm>
#include <cstring>

namespace reweave {

std::optional<CallNames> names_in(const wire::SyscallRecord& record) {
  constexpr std::size_t kHead = sizeof(wire::OutputChunk) + sizeof(wire::NamedFiles);
  if ((record.flags & wire::kNamesFiles) == 0 || record.header.bytes < sizeof record + kHead) return std::nullopt;
  const auto* start = reinterpret_cast<const char*>(&record + 1);
  const std::size_t there = record.header.bytes - sizeof record;
  wire::OutputChunk chunk;
  CallNames found;
  std::memcpy(&chunk, start, sizeof chunk);
  std::memcpy(&found.files, start + sizeof chunk, sizeof found.files);
  if (chunk.bytes > there - sizeof chunk || found.files.text_bytes > there - kHead) return std::nullopt;
  std::string_view text(start + kHead, found.files.text_bytes);
  while (!text.empty()) {
    found.names.push_back(text.substr(0, text.find('\0')));
    text.remove_prefix(std::min(found.names.back().size() + 1, text.size()));
  }
  found.bytes = std::min<std::size_t>(sizeof chunk + (chunk.bytes + 7) / 8 * 8, there);
  return found;
}

}  // namespace reweave
