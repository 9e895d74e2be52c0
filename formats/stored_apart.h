// Outputs of system calls that are stored apart from the events, in the recording's file `reads`: what was read from
// large files, as it is. The events name position and hash, so that damage is seen when they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/fd.h"
#include "formats/wire.h"

namespace reweave {

// Appends to a new file `path`, created with the first data. One thread.
class ApartWriter {
 public:
  explicit ApartWriter(std::string path) : path_(std::move(path)) {}

  // Stores `bytes` at `data`. Throws SystemError.
  wire::StoredApart store(const std::byte* data, std::uint64_t bytes);
  std::uint64_t bytes_written() const { return end_; }

 private:
  std::string path_;
  Fd file_;
  std::uint64_t end_ = 0;
};

// Reads the file `path` of a recording, which may be a stranger's. One thread.
class ApartReader {
 public:
  explicit ApartReader(std::string path) : path_(std::move(path)) {}

  // Copies `bytes` of stored data to `to`. Throws BadFile if they are not there or are not what was stored.
  void read(const wire::StoredApart& stored, std::uint64_t bytes, std::uint8_t* to);

 private:
  std::string path_;
  Fd file_;
};

}  // namespace reweave
