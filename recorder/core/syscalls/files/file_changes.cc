#include "recorder/core/syscalls/files/file_changes.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/open_own.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_contents.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/files/written_files.h"
#include "recorder/core/syscalls/memory/process_memory.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

// The bytes of a file that a call may have changed.
struct Change {
  std::uint64_t offset, bytes;
};

std::uint64_t position(long fd) { return static_cast<std::uint64_t>(sys(SYS_lseek, fd, 0, SEEK_CUR)); }

bool is_readable(long fd) {
  const long flags = sys(SYS_fcntl, fd, F_GETFL, 0);
  return !is_error(flags) && (flags & O_ACCMODE) != O_WRONLY;
}

// True if the call shifts the contents that follow its range.
bool moves_contents(const Call& call) {
  return call.row->at.change == HowChanged::kAllocates &&
         (call.args[1] & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0;
}

// The descriptor of the file that the call changes; -1 if it names a path.
long changed_fd(const Call& call) {
  if (call.row->at.change == HowChanged::kSize && call.row->paths != 0) return -1;
  return call.args[call.row->at.to < 0 ? 0 : call.row->at.to];
}

// The contents that fallocate changed; plain allocation changes none.
Change allocated(const Call& call, std::uint64_t size) {
  constexpr long kMakesZero = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE | 0x80;  // FALLOC_FL_WRITE_ZEROES
  const auto offset = static_cast<std::uint64_t>(call.args[2]);
  if (moves_contents(call)) return {offset, size};
  if ((call.args[1] & kMakesZero) != 0) return {offset, static_cast<std::uint64_t>(call.args[3])};
  return {0, 0};
}

Change change_of(const Call& call, long fd, long result, std::uint64_t size) {
  const auto written = static_cast<std::uint64_t>(result);
  const long at = call.row->at.offset < 0 ? 0 : call.args[call.row->at.offset];
  switch (call.row->at.change) {
    case HowChanged::kAtPosition:
      return {position(fd) - written, written};
    case HowChanged::kAtOffset:
      if (at == -1) return {position(fd) - written, written};  // pwritev2
      return {static_cast<std::uint64_t>(at), written};
    case HowChanged::kAtOffsetThere:
      if (at == 0) return {position(fd) - written, written};
      return {*reinterpret_cast<const std::uint64_t*>(at) - written, written};
    case HowChanged::kSize:
      return {0, 0};
    case HowChanged::kAllocates:
      return allocated(call, size);
    default:
      return {0, size};
  }
}

// True for a write at an offset that nevertheless appends to the file (pwrite(2), readv(2)).
bool appends(const Call& call, long fd) {
  constexpr long kAppend = 0x10, kNoAppend = 0x20;  // RWF_
  if (call.row->at.change != HowChanged::kAtOffset) return false;
  const long how = call.row->at.flags < 0 ? 0 : call.args[call.row->at.flags];
  if ((how & (kAppend | kNoAppend)) != 0) return (how & kAppend) != 0;
  return (sys(SYS_fcntl, fd, F_GETFL, 0) & O_APPEND) != 0;
}

PseudoCall change_record(const struct stat& status, std::uint64_t bytes) {
  PseudoCall record(wire::kFileChanged, bytes);
  record.fields().args[0] = status.st_dev;
  record.fields().args[1] = status.st_ino;
  record.fields().args[2] = static_cast<std::uint64_t>(status.st_size);
  return record;
}

// `bytes` is 0 if the contents did not change.
void log_change(const struct stat& status, long fd, Change change) {
  PseudoCall record = change_record(status, change.bytes);
  if (change.bytes != 0) record.append_file(change.offset, fd, change.bytes);
  record.commit();
}

void log_changes(const struct stat& status, long fd, Change change) {
  do {
    const std::uint64_t piece = change.bytes < kPieceBytes ? change.bytes : kPieceBytes;
    log_change(status, fd, {change.offset, piece});
    change.offset += piece;
    change.bytes -= piece;
  } while (change.bytes != 0);
}

// When contents are shifted, most file systems drop pages that private mappings have written to, as at a truncation.
bool drops_private_pages(long fd) {
  constexpr long kXfs = 0x58465342;
  struct statfs system = {};
  return is_error(sys(SYS_fstatfs, fd, &system)) || system.f_type != kXfs;
}

// For a change that may be as large as the file: logs its range, which a replay clears first, whether it drops private
// pages, and then the data between holes.
void log_sparse_change(const Call& call, const struct stat& status, long fd, bool own, Change change) {
  PseudoCall record = change_record(status, 0);
  record.fields().args[3] = change.offset;
  record.fields().args[4] = change.bytes;
  record.fields().args[5] = moves_contents(call) && drops_private_pages(fd) ? 1 : 0;
  record.commit();
  if (!own) return log_changes(status, fd, change);  // searching for data would move the program's file position
  const std::uint64_t end = change.offset + change.bytes;
  for (Extent data = next_data(fd, change.offset, end); data.start < data.end; data = next_data(fd, data.end, end))
    log_changes(status, fd, {data.start, data.end - data.start});
}

// The part of a grown file between its old end and the end of that page. Programs may have written there through a
// mapping, and the file system may or may not zero it.
Change grown_tail(std::uint64_t old_size, std::uint64_t size) {
  const std::uint64_t end = page_up(old_size) < size ? page_up(old_size) : size;
  return end > old_size ? Change{old_size, end - old_size} : Change{0, 0};
}

// Makes a mapping end where its file ends; `size` is the file's size.
void fit_region(Region& region, std::uint64_t size) {
  if (region.file_end == kNoFile) return;
  const std::uint64_t behind = size > region.object_offset ? page_up(size - region.object_offset) : 0;
  const std::uint64_t old_end = region.accessible_end();
  region.file_end = region.start + behind;
  if (live() || region.accessible_end() == old_end) return;
  const long flags = (region.shared ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED;
  if (region.accessible_end() > old_end)
    map_part(region.stand_in, old_end, region.accessible_end() - old_end, region.prot, flags,
             region.object_offset + (old_end - region.start));
  else
    map_nothing(region.accessible_end(), region.end - region.accessible_end(), region.prot, flags);
}

// Adjusts all mappings of the stand-in `number`; 0: the mappings of all files.
void fit_mappings(std::uint32_t number) {
  RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    Region& region = table.items[i];
    if (region.stand_in != 0 && (number == 0 || region.stand_in == number))
      fit_region(region, state().stand_in_sizes[region.stand_in - 1]);
  }
}

void drop_private_pages(std::uint32_t number, std::uint64_t from) {
  RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if (region.stand_in != number || region.shared) continue;
    const std::uint64_t before = from > region.object_offset ? from - region.object_offset : 0;
    const std::uint64_t start = region.start + before, end = region.accessible_end();
    if (start < end)
      map_part(number, start, end - start, region.prot, MAP_PRIVATE | MAP_FIXED, region.object_offset + before);
  }
}

void apply(const wire::SyscallRecord& record) {
  const std::uint32_t number = find_stand_in(record.args[0], record.args[1]);
  if (number == 0) diverged("changed a file", &record.header);
  std::uint64_t& size = state().stand_in_sizes[number - 1];
  const wire::OutputChunk* chunk = sole_chunk(record.header);
  if (record.args[4] != 0) clear_stand_in(number, record.args[3], record.args[4]);
  if (record.args[5] != 0) drop_private_pages(number, page_down(record.args[3]));
  if (chunk != nullptr) write_stand_in(number, chunk->address, chunk + 1, chunk->bytes);
  if (record.args[2] < size) clear_stand_in(number, record.args[2], size - record.args[2]);
  size = record.args[2];
  state().stand_in_changes++;
  fit_mappings(number);
}

}  // namespace

void log_file_change(const Call& call, long result) {
  if (is_error(result)) return;
  const bool may_be_memory =
      result > 0 && (call.row->flags & (kFirstIsFd | kWritesStream)) == (kFirstIsFd | kWritesStream);
  if (may_be_memory && is_proc_file(call.args[0])) {
    const Change change = change_of(call, call.args[0], result, 0);
    return log_memory_change(call, change.offset, change.bytes);
  }
  const bool opened = (call.row->flags & kNewFd) != 0;
  const long flags = opened ? open_flags(call) : 0;
  if ((flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0) note_written_file(result);
  if (state().stand_in_count == 0) return;
  if (opened && (flags & O_TRUNC) == 0) return;
  const long fd = opened ? result : changed_fd(call);
  struct stat status = {};
  const long found = fd < 0 ? lent_call(SYS_stat, call.args[0], &status) : lent_call(SYS_fstat, fd, &status);
  const auto type = status.st_mode & S_IFMT;
  if (is_error(found) || (type != S_IFREG && type != S_IFBLK)) return;
  status.st_size = static_cast<std::int64_t>(file_bytes(fd, status));
  const std::uint32_t number = find_stand_in(status.st_dev, status.st_ino);
  if (number == 0) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto written = static_cast<std::uint64_t>(result);
  Change change = opened              ? Change{0, 0}
                  : appends(call, fd) ? Change{size - written, written}
                                      : change_of(call, fd, result, size);
  if (change.offset > size) change.bytes = 0;
  if (change.bytes > size - change.offset) change.bytes = size - change.offset;
  const Change tail = grown_tail(state().stand_in_sizes[number - 1], size);
  const bool nothing = change.bytes == 0 && tail.bytes == 0;
  Text name;
  name << "thread-self/fd/" << static_cast<int>(fd);
  const long opened_own = nothing ? -1 : open_own(kProcFd, name.c_str(), O_RDONLY);
  const long own = is_error(opened_own) && is_readable(fd) ? fd : opened_own;
  if (!nothing && is_error(own))
    stop_run(wire::OutcomeKind::kUnsupported,
             "a change to a mapped file cannot be read; allow more descriptors with ulimit -n");
  if (tail.bytes != 0) log_change(status, own, tail);
  if (call.row->at.change == HowChanged::kAllocates && change.bytes != 0)
    log_sparse_change(call, status, own, opened_own >= 0, change);
  else
    log_changes(status, own, change);
  if (opened_own >= 0) sys(SYS_close, opened_own);
  state().stand_in_sizes[number - 1] = size;
  state().stand_in_changes++;
  fit_mappings(number);
}

void follow_file_changes() {
  static std::uint32_t seen;
  if (seen == state().stand_in_changes) return;
  seen = state().stand_in_changes;
  fit_mappings(0);
}

void repeat_file_changes() {
  for (;;) {
    const wire::RecordHeader* header = peek_record();
    if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) return;
    const auto& record = wire::record_cast<wire::SyscallRecord>(*header);
    if (header->thread != self().id || (record.number != wire::kFileChanged && record.number != wire::kMemoryChanged))
      return;
    if (record.number == wire::kFileChanged)
      apply(record);
    else
      repeat_memory_change(record);
    consume_record();
  }
}

void take_file_change(const wire::SyscallRecord& recorded) {
  if (find_stand_in(recorded.args[0], recorded.args[1]) == 0) return;
  apply(recorded);
  const wire::OutputChunk* chunk = sole_chunk(recorded.header);
  PseudoCall record(wire::kFileChanged, chunk == nullptr ? 0 : chunk->bytes);
  memcpy(record.fields().args, recorded.args, sizeof recorded.args);
  if (chunk != nullptr) record.append_chunk(chunk->address, chunk + 1, chunk->bytes);
  record.commit();
}

bool mend_mapping(std::uint64_t address) {
  const Region* region = region_at(address);
  if (region == nullptr || region->stand_in == 0 || address < region->accessible_end()) return false;
  const std::uint32_t number = region->stand_in;
  fit_mappings(number);
  const Region* now = region_at(address);
  return now != nullptr && address < now->accessible_end();
}

}  // namespace reweave::core
