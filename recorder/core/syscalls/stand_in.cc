#include "recorder/core/syscalls/stand_in.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/core/address_space.h"
#include "recorder/core/checksum.h"
#include "recorder/core/fatal.h"
#include "recorder/core/syscalls/file_contents.h"

namespace reweave::core {

namespace {

std::uint64_t base_of(std::uint32_t number) { return kStandInsOffset + (number - 1) * kStandInBytes; }

}  // namespace

std::uint32_t find_stand_in(std::uint64_t device, std::uint64_t inode) {
  const RuntimeState& s = state();
  const std::uint64_t key = mix(device, inode);
  std::uint32_t i = 0;
  while (i < s.stand_in_count && s.stand_ins[i] != key) i++;
  return i == s.stand_in_count ? 0 : i + 1;
}

void map_nothing(std::uint64_t start, std::uint64_t bytes, long prot, long flags) {
  const long empty = sys(SYS_memfd_create, "empty", MFD_CLOEXEC);
  const long result = sys(SYS_mmap, start, bytes, prot, flags, empty, 0);
  sys(SYS_close, empty);
  if (is_error(result)) bug("cannot map the pages behind a file's end");
}

void map_part(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
              std::uint64_t offset) {
  if (is_error(sys(SYS_mmap, start, bytes, prot, flags, kArenaFd, base_of(number) + offset)))
    bug("cannot map a file's stand-in");
}

void remap_stand_in(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, std::uint64_t offset) {
  constexpr long kFlags = MAP_SHARED | MAP_FIXED;
  map_part(number, start, bytes, prot, kFlags, offset);
  const std::uint64_t size = state().stand_in_sizes[number - 1];
  const std::uint64_t behind = size > offset ? page_up(size - offset) : 0;
  if (behind < bytes) map_nothing(start + behind, bytes - behind, prot, kFlags);
}

void write_stand_in(std::uint32_t number, std::uint64_t offset, const void* from, std::uint64_t bytes) {
  sys(SYS_pwrite64, kArenaFd, from, bytes, base_of(number) + offset);
}

namespace {

// What is a hole stays one.
void write_zeros(std::uint64_t from, std::uint64_t end) {
  static const char kZeros[kPage] = {};
  while (from < end) {
    const long data = sys(SYS_lseek, kArenaFd, from, SEEK_DATA);
    if (is_error(data) || static_cast<std::uint64_t>(data) >= end) return;
    const std::uint64_t left = end - static_cast<std::uint64_t>(data);
    const std::uint64_t bytes = left < kPage ? left : kPage;
    sys(SYS_pwrite64, kArenaFd, kZeros, bytes, data);
    from = static_cast<std::uint64_t>(data) + bytes;
  }
}

}  // namespace

void clear_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  // To make a hole the kernel looks at each mapping of the place, and a program may have thousands.
  constexpr std::uint64_t kFew = 64 << 10;
  if (bytes <= kFew) return write_zeros(base_of(number) + offset, base_of(number) + offset + bytes);
  sys(SYS_fallocate, kArenaFd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, base_of(number) + offset, bytes);
}

void fill_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  if (offset + bytes > kStandInBytes)
    stop_run(wire::OutcomeKind::kUnsupported, "a file larger than 16 TiB is mapped for writing");
  clear_stand_in(number, offset, bytes);
  take_contents(kArenaFd, base_of(number));
}

std::uint32_t note_stand_in(const FileIdentity& file) {
  RuntimeState& s = state();
  std::uint32_t number = find_stand_in(file.device, file.inode);
  if (number == 0) {
    if (s.stand_in_count == kMaxStandIns)
      stop_run(wire::OutcomeKind::kUnsupported, "more than 8192 files are mapped that may change");
    s.stand_ins[s.stand_in_count] = mix(file.device, file.inode);
    number = ++s.stand_in_count;
    if (replaying() && is_error(sys(SYS_ftruncate, kArenaFd, base_of(number) + kStandInBytes)))
      bug("cannot extend the arena");
  }
  s.stand_in_sizes[number - 1] = file.size;
  return number;
}

void map_stand_in(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                  long offset) {
  const std::uint32_t number = note_stand_in(file);
  const auto begin = static_cast<std::uint64_t>(offset);
  if (begin >= kStandInBytes && begin >= file.size) {
    take_contents(kArenaFd, base_of(number));  // of which there are none
    return map_nothing(start, page_up(bytes), prot, flags);
  }
  fill_stand_in(number, begin, bytes);
  map_part(number, start, bytes, prot, flags, begin);
  const std::uint64_t behind = file.size > begin ? page_up(file.size - begin) : 0;
  if (behind < page_up(bytes)) map_nothing(start + behind, page_up(bytes) - behind, prot, flags);
}

}  // namespace reweave::core
