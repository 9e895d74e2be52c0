#include "recorder/core/syscalls/files/written_files.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/context.h"
#include "recorder/core/base/hash.h"
#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

namespace {

// A Bloom filter with one hash: a false positive only costs logging the file's contents.
struct Bit {
  std::atomic<std::uint64_t>& word;
  std::uint64_t mask;
};

Bit bit_of(std::uint64_t device, std::uint64_t inode) {
  const std::uint64_t bit = mix(device, inode) % kWrittenFileBits;
  return {state().written_files[bit / 64], std::uint64_t{1} << bit % 64};
}

}  // namespace

void note_written_file(long fd) {
  struct stat status = {};
  if (is_error(lent_call(SYS_fstat, fd, &status)) || (status.st_mode & S_IFMT) != S_IFREG) return;
  const Bit bit = bit_of(status.st_dev, status.st_ino);
  bit.word.fetch_or(bit.mask);
}

bool is_written_file(std::uint64_t device, std::uint64_t inode) {
  const Bit bit = bit_of(device, inode);
  return (bit.word.load() & bit.mask) != 0;
}

}  // namespace reweave::core
