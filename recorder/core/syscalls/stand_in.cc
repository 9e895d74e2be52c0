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

namespace reweave::core {

namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

// One record: `bytes` bytes at `offset` of the file, from `fd` or, if that is -1, from memory at `from`; with none, the
// last. Its buffer is the record itself.
void log_piece(long fd, std::uint64_t from, std::uint64_t offset, std::uint64_t bytes) {
  RecordWriter record(wire::RecordKind::kSyscall, self().id, sizeof(wire::SyscallRecord),
                      bytes == 0 ? 0 : sizeof(wire::OutputChunk) + round_to(bytes, 8));
  auto& body = record.body<wire::SyscallRecord>();
  memset(&body.number, 0, sizeof body - sizeof body.header);
  body.number = kFileContents;
  body.step = state().step;
  if (bytes != 0) {
    auto* buffer = reinterpret_cast<std::byte*>(&body + 1) + sizeof(wire::OutputChunk);
    const long got = fd >= 0 ? sys(SYS_pread64, fd, buffer, bytes, offset) : static_cast<long>(bytes);
    const wire::OutputChunk chunk = {offset, got > 0 ? static_cast<std::uint64_t>(got) : 0};
    record.append(&chunk, sizeof chunk);
    if (chunk.bytes != 0) record.append(fd >= 0 ? buffer : reinterpret_cast<std::byte*>(from + offset), chunk.bytes);
  }
  record.commit();
}

// Without /proc, as after chroot, holes are not looked for.
void log_all(long fd, std::uint64_t offset, std::uint64_t bytes) {
  struct stat status = {};
  if (is_error(sys(SYS_fstat, fd, &status))) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t end = offset + bytes < size ? offset + bytes : size;
  for (std::uint64_t at = offset; at < end; at += kPieceBytes)
    log_piece(fd, 0, at, end - at < kPieceBytes ? end - at : kPieceBytes);
}

bool is_zero_page(std::uint64_t address) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(address);
  for (std::uint64_t i = 0; i < kPage / 8; i++)
    if (words[i] != 0) return false;
  return true;
}

std::uint64_t base_of(std::uint32_t number) { return kStandInsOffset + (number - 1) * kStandInBytes; }

// False: that was the last piece.
bool take_piece(std::uint64_t base) {
  const auto& record = expect<wire::SyscallRecord>(wire::RecordKind::kSyscall, "mapped a file");
  if (record.number != kFileContents) diverged("mapped a file", &record.header);
  const auto* chunk = reinterpret_cast<const wire::OutputChunk*>(&record + 1);
  const std::uint64_t extra = record.header.bytes - sizeof record;
  const bool some = extra >= sizeof *chunk && chunk->bytes <= extra - sizeof *chunk;
  if (some) sys(SYS_pwrite64, kArenaFd, chunk + 1, chunk->bytes, base + chunk->address);
  consume_record();
  return some;
}

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

void clear_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  sys(SYS_fallocate, kArenaFd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, base_of(number) + offset, bytes);
}

void log_contents(long fd, std::uint64_t offset, std::uint64_t bytes) {
  Text name;
  name << "/proc/self/fd/" << static_cast<int>(fd);
  // A descriptor of our own, for looking for data moves the file position.
  const long own = sys(SYS_open, name.c_str(), O_RDONLY | O_CLOEXEC);
  const std::uint64_t end = offset + bytes;
  std::uint64_t at = offset;
  while (!is_error(own) && at < end) {
    const long data = sys(SYS_lseek, own, at, SEEK_DATA);
    if (is_error(data) || static_cast<std::uint64_t>(data) >= end) break;
    const long hole = sys(SYS_lseek, own, data, SEEK_HOLE);
    at = static_cast<std::uint64_t>(data);
    std::uint64_t stop = is_error(hole) ? end : static_cast<std::uint64_t>(hole);
    if (stop > end) stop = end;
    if (stop <= at) break;  // a device
    const std::uint64_t piece = stop - at < kPieceBytes ? stop - at : kPieceBytes;
    log_piece(own, 0, at, piece);
    at += piece;
  }
  if (!is_error(own)) sys(SYS_close, own);
  if (is_error(own)) log_all(fd, offset, bytes);
  log_piece(-1, 0, 0, 0);
}

void log_memory(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset) {
  for (std::uint64_t at = 0; at < bytes; at += kPage)
    if (!is_zero_page(start + at)) log_piece(-1, start - offset, offset + at, kPage);
  log_piece(-1, 0, 0, 0);
}

void take_contents(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
  if (offset + bytes > kStandInBytes)
    stop_run(wire::OutcomeKind::kUnsupported, "a file larger than 64 GiB is mapped for writing");
  clear_stand_in(number, offset, bytes);
  while (take_piece(base_of(number))) {
  }
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
  take_contents(number, begin, bytes);
  map_part(number, start, bytes, prot, flags, begin);
  const std::uint64_t behind = file.size > begin ? page_up(file.size - begin) : 0;
  if (behind < page_up(bytes)) map_nothing(start + behind, page_up(bytes) - behind, prot, flags);
}

}  // namespace reweave::core
