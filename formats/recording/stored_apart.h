// Outputs of system calls that are stored apart from the events, in the recording's file `reads`: data read from large
// files, uncompressed. The events hold position and hash, so that damage is noticed on reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/base/folder.h"
#include "formats/wire.h"

namespace reweave {

// Appends to the new file `reads` of a recording, created with the first data. One thread.
class ApartWriter {
 public:
  // `recording` must outlive it.
  explicit ApartWriter(const Folder& recording) : recording_(recording) {}

  // Stores `bytes` at `data`. Throws SystemError.
  wire::StoredApart store(const std::byte* data, std::uint64_t bytes);
  std::uint64_t bytes_written() const { return end_; }

 private:
  const Folder& recording_;
  Fd file_;
  std::uint64_t end_ = 0;
};

// Reads the file `reads`. One thread.
class ApartReader {
 public:
  // `recording` must outlive it.
  explicit ApartReader(const Folder& recording) : recording_(recording) {}

  // Copies `bytes` of stored data to `to`. Throws BadFile if they are missing or damaged.
  void read(const wire::StoredApart& stored, std::uint64_t bytes, std::uint8_t* to);

 private:
  const Folder& recording_;
  Fd file_;
};

}  // namespace reweave
