// Files for fuzz targets. The first byte of an input selects how the rest reaches the reader: as the file itself, or as
// payloads of well-formed blocks (whose checksums are right, as those of a hostile writer would be).
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "formats/base/block_file.h"

namespace reweave::fuzz {

// A folder in memory, one per fuzzing process, gone when it exits.
inline const std::string& folder() {
  struct Owner {
    Owner() { std::filesystem::create_directories(path); }
    ~Owner() { std::filesystem::remove_all(path); }
    std::string path = "/dev/shm/reweave-fuzz-" + std::to_string(::getpid());
  };
  static const Owner kOwner;
  return kOwner.path;
}

// Writes `path` from the input. In framed inputs each payload follows a block type and a length of three bytes.
inline void write_input(const std::string& path, FileType type, const std::uint8_t* data, std::size_t size) {
  std::filesystem::remove(path);
  if (size == 0 || data[0] % 4 == 0) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return;
  }
  BlockWriter writer(path, type);
  std::uint64_t last = 0;
  for (std::size_t at = 1; size - at >= 4;) {
    const std::size_t wanted = data[at + 1] | data[at + 2] << 8 | data[at + 3] << 16;
    const auto block_type = static_cast<BlockType>(data[at] % 8);
    at += 4;
    const std::size_t bytes = std::min(wanted, size - at);
    if (block_type == BlockType::kEnd) break;
    last = writer.write(block_type, std::as_bytes(std::span(data + at, bytes)));
    at += bytes;
  }
  // A footer, where the file type has one, is the last block.
  if (data[0] % 4 != 1) writer.finish(last);
}

// Returns the blocks of a file as a framed input, to start a corpus from.
inline std::vector<std::uint8_t> framed(const std::string& path, FileType type) {
  std::vector<std::uint8_t> input{2};
  BlockReader reader(path, type);
  Block block;
  while (reader.next(block)) {
    const auto payload = block.payload();
    input.push_back(static_cast<std::uint8_t>(block.type()));
    for (int shift = 0; shift < 24; shift += 8) input.push_back(static_cast<std::uint8_t>(payload.size() >> shift));
    for (const std::byte byte : payload) input.push_back(static_cast<std::uint8_t>(byte));
  }
  return input;
}

}  // namespace reweave::fuzz
