#include "recorder/core/syscalls/files/stand_in.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/hash.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/files/file_contents.h"

namespace reweave::core {

namespace {

// Writes of an explored run must not reach other runs, or the server from which the runs are forked.
long stand_ins_fd() { return modelled() ? kRunStandInsFd : kArenaFd; }

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
  if (is_error(result)) bug("cannot map the pages after a file's end");
}

void map_part(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
              std::uint64_t offset) {
  if (is_error(sys(SYS_mmap, start, bytes, prot, flags, stand_ins_fd(), base_of(number) + offset)))
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
  sys(SYS_pwrite64, stand_ins_fd(), from, bytes, base_of(number) + offset);
}

namespace {

// Leaves holes as they are.
void write_zeros(std::uint64_t from, std::uint64_t end) {
  static const char kZeros[kPage] = {};
  while (from < end) {
    const long data = sys(SYS_lseek, stand_ins_fd(), from, SEEK_DATA);
    if (is_error(data) || static_cast<std::uint64_t>(data) >= end) return;
    const std::uint64_t left = end - static_cast<std::uint64_t>(data);
    const std::uint64_t bytes = left < kPage ? left : kPage;
    sys(SYS_pwrite64, stand_ins_fd(), kZeros, bytes, data);
    from = static_cast<std::uint64_t>(data) + bytes;
  }
}

void check_room(std::uint64_t offset, std::uint64_t bytes) {
  if (offset + bytes > kStandInBytes)
    stop_run(wire::OutcomeKind::kUnsupported, "a file larger than 16 TiB is mapped for writing");
}

}  // namespace

void clear_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  // To punch a hole, the kernel looks at every mapping of the range, and a program may have thousands.
  constexpr std::uint64_t kFew = 64 << 10;
  if (bytes <= kFew) return write_zeros(base_of(number) + offset, base_of(number) + offset + bytes);
  sys(SYS_fallocate, stand_ins_fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, base_of(number) + offset, bytes);
}

void fill_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  check_room(offset, bytes);
  clear_stand_in(number, offset, bytes);
  take_contents(stand_ins_fd(), base_of(number));
}

std::uint32_t note_stand_in(const FileIdentity& file) {
  RuntimeState& s = state();
  std::uint32_t number = find_stand_in(file.device, file.inode);
  if (number == 0) {
    if (s.stand_in_count == kMaxStandIns)
      stop_run(wire::OutcomeKind::kUnsupported, "more than 8192 mapped files may change");
    s.stand_ins[s.stand_in_count] = mix(file.device, file.inode);
    number = ++s.stand_in_count;
    if (!live() && is_error(sys(SYS_ftruncate, stand_ins_fd(), base_of(number) + kStandInBytes)))
      bug("cannot extend the arena");
  }
  s.stand_in_sizes[number - 1] = file.size;
  return number;
}

namespace {

// Maps the stand-in, and the pages after the end of `file`.
void map_filled(const FileIdentity& file, std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot,
                long flags, std::uint64_t offset) {
  map_part(number, start, bytes, prot, flags, offset);
  const std::uint64_t behind = file.size > offset ? page_up(file.size - offset) : 0;
  if (behind < page_up(bytes)) map_nothing(start + behind, page_up(bytes) - behind, prot, flags);
}

bool is_behind_everything(const FileIdentity& file, std::uint64_t offset) {
  return offset >= kStandInBytes && offset >= file.size;
}

bool is_mapped(std::uint32_t number) {
  const RegionTable& table = regions();
  std::uint32_t i = 0;
  while (i < table.count && table.items[i].stand_in != number) i++;
  return i < table.count;
}

}  // namespace

void map_stand_in(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                  long offset) {
  const std::uint32_t number = note_stand_in(file);
  const auto begin = static_cast<std::uint64_t>(offset);
  if (is_behind_everything(file, begin)) {
    take_contents(stand_ins_fd(), base_of(number));  // only the end mark: there are no contents
    return map_nothing(start, page_up(bytes), prot, flags);
  }
  fill_stand_in(number, begin, bytes);
  map_filled(file, number, start, bytes, prot, flags, begin);
}

void map_stand_in_of_run(const wire::MapFileRecord& recorded, const FileIdentity& file, std::uint64_t start,
                         std::uint64_t bytes, long prot, long flags, long offset) {
  const std::uint32_t number = note_stand_in(file);
  const auto begin = static_cast<std::uint64_t>(offset);
  if (is_behind_everything(file, begin)) return map_nothing(start, page_up(bytes), prot, flags);
  check_room(begin, bytes);
  // If no mapping is left, the inode may be another file's by now.
  const bool mapped = is_mapped(number);
  if (!mapped) clear_stand_in(number, begin, bytes);
  copy_contents(recorded, stand_ins_fd(), base_of(number), mapped);
  map_filled(file, number, start, bytes, prot, flags, begin);
}

void log_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  log_part(stand_ins_fd(), base_of(number), offset, bytes);
}

namespace {

// Copies [start, end) of the server's file of stand-ins to the run's.
void copy_stand_ins(std::uint64_t start, std::uint64_t end) {
  static char bytes[16 * kPage];
  for (Extent data = next_data(kArenaFd, start, end); data.start < data.end; data = next_data(kArenaFd, data.end, end))
    for (std::uint64_t at = data.start; at < data.end;) {
      const std::uint64_t left = data.end - at;
      const long got = sys(SYS_pread64, kArenaFd, bytes, left < sizeof bytes ? left : sizeof bytes, at);
      if (is_error(got) || got == 0 || sys(SYS_pwrite64, kRunStandInsFd, bytes, got, at) != got)
        bug("cannot copy a file's stand-in");
      at += static_cast<std::uint64_t>(got);
    }
}

}  // namespace

void begin_own_stand_ins() {
  const long fd = sys(SYS_memfd_create, "stand-ins", MFD_CLOEXEC);
  if (is_error(fd) || is_error(sys(SYS_dup3, fd, kRunStandInsFd, 0))) bug("cannot make a file for stand-ins");
  sys(SYS_close, fd);
  const std::uint32_t count = state().stand_in_count;
  if (count == 0) return;
  if (is_error(sys(SYS_ftruncate, kRunStandInsFd, base_of(count) + kStandInBytes))) bug("cannot extend the stand-ins");
  copy_stand_ins(kStandInsOffset, base_of(count) + kStandInBytes);
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if (region.stand_in != 0 && region.shared)
      remap_stand_in(region.stand_in, region.start, region.end - region.start, region.prot, region.object_offset);
  }
}

}  // namespace reweave::core
