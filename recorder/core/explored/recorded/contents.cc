#include "recorder/core/explored/recorded/contents.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/outputs_of.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kEver = INT64_MAX;
constexpr std::uint64_t kMostAdded = 256;  // by one run

IN_MODEL Contents* all;
IN_MODEL std::uint32_t count, room;
IN_MODEL KnownBytes* extents;
IN_MODEL std::uint32_t extent_count, extent_room;

void note_change(Contents& contents, std::int64_t from, std::int64_t to) {
  if (from >= to) return;
  const bool is_first = contents.changed_from >= contents.changed_to;
  contents.changed_from = is_first || from < contents.changed_from ? from : contents.changed_from;
  contents.changed_to = is_first || to > contents.changed_to ? to : contents.changed_to;
}

void resize(Contents& contents, std::int64_t size) {
  note_change(contents, std::min(size, contents.size_now), kEver);
  contents.size_now = size;
}

void note_read(Contents& contents, const RecordedCall& call, std::int64_t offset, std::int64_t asked) {
  const std::int64_t result = record_of(call).result;
  const std::int64_t left = std::max<std::int64_t>(contents.size_now - offset, 0);
  if (result != std::min(left, asked)) contents.unreliable = true;
  if (offset < contents.changed_to && offset + result > contents.changed_from) return;
  auto at = static_cast<std::uint64_t>(offset);
  for_each_input_chunk(call, [&at](const std::byte* data, std::uint64_t bytes) {
    if (extent_count == extent_room) return;
    extents[extent_count++] = {0, static_cast<std::uint32_t>(bytes), at, data};
    at += bytes;
  });
}

// The place that a call reads or writes: the offset in its argument, or the file's position, which it moves.
struct Access {
  long number;
  bool writes;
  int offset;  // argument; -1: the position
};
constexpr Access kAccesses[] = {
    {SYS_read, false, -1},   {SYS_readv, false, -1},  {SYS_pread64, false, 3}, {SYS_preadv, false, 3},
    {SYS_preadv2, false, 3}, {SYS_write, true, -1},   {SYS_writev, true, -1},  {SYS_pwrite64, true, 3},
    {SYS_pwritev, true, 3},  {SYS_pwritev2, true, 3},
};

void index_access(RecordedFile& file, const RecordedCall& call, const Access& access, Contents& contents) {
  const wire::SyscallRecord& record = record_of(call);
  const bool at_position = access.offset < 0 || record.args[access.offset] == ~std::uint64_t{0};
  std::int64_t offset = at_position ? file.position : static_cast<std::int64_t>(record.args[access.offset]);
  if (access.writes && file.appends) offset = contents.size_now;
  if (access.writes) {
    note_change(contents, std::min(offset, contents.size_now), offset + record.result);
    contents.size_now = std::max(contents.size_now, offset + record.result);
  } else {
    // The size of a vector is not recorded: the read is taken to have been complete.
    const bool single = find_row(record.number)->outs[0].kind == OutKind::kByResult;
    const auto asked = single ? static_cast<std::int64_t>(record.args[2]) : record.result;
    const std::uint32_t before = extent_count;
    note_read(contents, call, offset, asked);
    for (std::uint32_t i = before; i < extent_count; i++) extents[i].contents = file.contents;
  }
  if (at_position) file.position = offset + record.result;
}

bool are_equal(const std::byte* a, const std::byte* b, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; i++)
    if (a[i] != b[i]) return false;
  return true;
}

// Extents are sorted: removes the parts that are known already, which must be equal.
void merge(Contents& contents) {
  std::uint32_t kept = contents.first_extent;
  for (std::uint32_t i = 0; i < contents.extents; i++) {
    KnownBytes extent = extents[contents.first_extent + i];
    if (kept > contents.first_extent) {
      const KnownBytes& last = extents[kept - 1];
      const std::uint64_t end = last.offset + last.bytes;
      const std::uint64_t overlap =
          end > extent.offset ? std::min<std::uint64_t>(end - extent.offset, extent.bytes) : 0;
      const std::uint64_t from = std::max(last.offset, extent.offset);  // the part before that was compared
      if (extent.offset + overlap > from &&
          !are_equal(last.data + (from - last.offset), extent.data + (from - extent.offset),
                     extent.offset + overlap - from))
        contents.unreliable = true;
      extent.offset += overlap;
      extent.data += overlap;
      extent.bytes -= static_cast<std::uint32_t>(overlap);
    }
    if (extent.bytes != 0) extents[kept++] = extent;
  }
  contents.extents = kept - contents.first_extent;
}

}  // namespace

long prepare_contents(std::uint64_t memory, std::uint64_t most, std::uint64_t outputs) {
  room = static_cast<std::uint32_t>(most + kMostAdded);
  extent_room = static_cast<std::uint32_t>(outputs);
  const std::uint64_t own = round_to(room * sizeof(Contents), kPage);
  const std::uint64_t bytes = own + round_to(extent_room * sizeof(KnownBytes), kPage);
  if (memory + bytes > kFeedBase) return -ENOMEM;
  const long at = sys(SYS_mmap, memory, bytes + kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  all = reinterpret_cast<Contents*>(memory);
  extents = reinterpret_cast<KnownBytes*>(memory + own);
  return is_error(at) ? at : static_cast<long>(memory + bytes + kPage);
}

std::uint32_t contents_of(const wire::NamedFiles& names, std::uint64_t flags) {
  const bool is_made = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
  for (std::uint32_t i = count; i-- > 0 && !is_made;) {
    Contents& contents = all[i];
    const bool is_known = contents.device != 0 || contents.inode != 0;  // not a file that only a run had
    if (!is_known || contents.device != names.device || contents.inode != names.inode) continue;
    if ((flags & O_TRUNC) != 0) resize(contents, 0);
    if (contents.size_now == names.size) return i;
    break;  // something else has changed the file: it counts as a different file
  }
  if (count == room) return kNothing;
  all[count] = {names.device, names.inode, names.size, names.size, 0, 0, 0, 0, names.mode, false, nullptr};
  return count++;
}

void index_contents_use(RecordedFile& file, const RecordedCall& call) {
  const wire::SyscallRecord& record = record_of(call);
  if (file.contents == kNothing || is_error(record.result)) return;
  Contents& contents = all[file.contents];
  for (const Access& access : kAccesses)
    if (access.number == record.number) return index_access(file, call, access, contents);
  const SyscallRow& row = *find_row(record.number);
  const bool maps = row.at.fd >= 0;  // mmap
  if ((row.flags & kSeeks) != 0) file.position = record.result;
  if (row.at.change == HowChanged::kSize) resize(contents, static_cast<std::int64_t>(record.args[1]));
  if (row.at.change == HowChanged::kAllocates) contents.unreliable = true;
  if (maps && (record.args[2] & PROT_WRITE) != 0 && (record.args[3] & MAP_SHARED) != 0) contents.unreliable = true;
}

// Changes of the recorded run before the start of the runs are not known byte by byte. A file with such changes counts
// as a different one if it is opened again.
void begin_contents_at_departure() {
  for (std::uint32_t i = 0; i < count; i++) {
    Contents& contents = all[i];
    contents.size = contents.size_now;
    contents.unreliable = contents.unreliable || contents.changed_from < contents.changed_to;
    if (contents.unreliable) contents.device = contents.inode = 0;
  }
}

void end_of_contents() {
  std::sort(extents, extents + extent_count, [](const KnownBytes& a, const KnownBytes& b) {
    if (a.contents != b.contents) return a.contents < b.contents;
    return a.offset != b.offset ? a.offset < b.offset : a.bytes > b.bytes;
  });
  for (std::uint32_t i = 0; i < extent_count; i++) {
    Contents& contents = all[extents[i].contents];
    if (contents.extents++ == 0) contents.first_extent = i;
  }
  for (std::uint32_t i = 0; i < count; i++) {
    merge(all[i]);
    all[i].size_now = all[i].size;  // from now on the size in this run
  }
  for (std::uint32_t i = 0; i < recorded_file_count(); i++) recorded_file(i).position = recorded_file(i).begins_at;
}

std::uint32_t add_contents(std::uint64_t device, std::uint64_t inode, std::uint32_t mode) {
  if (count == room) return kNothing;
  all[count] = {device, inode, 0, 0, 0, 0, 0, 0, mode, false, nullptr};
  return count++;
}

Contents& contents_at(std::uint32_t index) { return all[index]; }

Contents* reliable_contents(const RecordedFile& file) {
  if (file.contents == kNothing || all[file.contents].unreliable) return nullptr;
  return &all[file.contents];
}

const KnownBytes* extent_at(const Contents& contents, std::uint64_t offset) {
  const KnownBytes* begin = extents + contents.first_extent;
  const KnownBytes* end = begin + contents.extents;
  const KnownBytes* found = std::partition_point(
      begin, end, [offset](const KnownBytes& extent) { return extent.offset + extent.bytes <= offset; });
  return found == end ? nullptr : found;
}

}  // namespace reweave::core
