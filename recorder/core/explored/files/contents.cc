#include "recorder/core/explored/files/contents.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/files/status.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/outputs_of.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/named_files.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Bytes that the run put into a file. If `data` is null they are zero. The newest change comes first in the list.
struct Change {
  std::uint32_t contents;
  std::int64_t from, to;
  const std::byte* data;
  const Change* older;
};

IN_MODEL const Change* newest;
IN_MODEL std::byte* free_memory;
IN_MODEL std::uint64_t free_bytes;
constexpr std::uint64_t kPortion = 1 << 20;

std::byte* allocate(const Call& call, std::uint64_t bytes) {
  bytes = round_to(bytes, 16);
  if (bytes > free_bytes) {
    free_bytes = std::max(round_to(bytes, kPage), kPortion);
    free_memory = take_model_room(free_bytes);
    if (free_memory == nullptr) leave_recording(call, "no memory for the run's changes of files");
  }
  std::byte* place = free_memory;
  free_memory += bytes;
  free_bytes -= bytes;
  return place;
}

std::byte* add_change(const Call& call, std::uint32_t contents, std::int64_t from, std::int64_t to, bool has_data) {
  if (from >= to) return nullptr;
  std::byte* data = has_data ? allocate(call, static_cast<std::uint64_t>(to - from)) : nullptr;
  auto* change = reinterpret_cast<Change*>(allocate(call, sizeof(Change)));
  *change = {contents, from, to, data, newest};
  newest = change;
  return data;
}

void resize(const Call& call, std::uint32_t index, std::int64_t size) {
  Contents& contents = contents_at(index);
  add_change(call, index, std::min(size, contents.size_now), INT64_MAX, false);
  contents.size_now = size;
}

// The part of a file that begins at `offset` and is known from one source. If `data` is null its bytes are zero.
struct Found {
  const std::byte* data;
  std::int64_t bytes;  // 0: nothing is known there
};

Found look_up(std::uint32_t index, std::int64_t offset, std::int64_t end) {
  for (const Change* change = newest; change != nullptr; change = change->older) {
    if (change->contents != index || change->to <= offset) continue;
    if (change->from > offset) {
      end = std::min(end, change->from);
      continue;
    }
    return {change->data == nullptr ? nullptr : change->data + (offset - change->from),
            std::min(end, change->to) - offset};
  }
  const KnownBytes* extent = extent_at(contents_at(index), static_cast<std::uint64_t>(offset));
  const auto start = extent == nullptr ? INT64_MAX : static_cast<std::int64_t>(extent->offset);
  if (start > offset) return {nullptr, 0};
  return {extent->data + (offset - start), std::min(end, start + static_cast<std::int64_t>(extent->bytes)) - offset};
}

[[noreturn]] void leave_at(const Call& call, std::int64_t offset, std::int64_t bytes) {
  Text text;
  text << "left the recording: " << call.row->name << " of thread " << call.me.id << " asks for " << bytes
       << " bytes at " << offset << " of the file that descriptor " << static_cast<int>(call.logged[0])
       << " leads to; not all of them were read when the program was recorded";
  end_run(wire::OutcomeKind::kLeftRecording, text.c_str());
}

// A row for each call: where its offset is, and how it passes memory.
struct Access {
  long number;
  bool writes, vector;
  int offset;  // argument; -1: the file's position
};
constexpr Access kAccesses[] = {
    {SYS_read, false, false, -1},  {SYS_readv, false, true, -1},   {SYS_pread64, false, false, 3},
    {SYS_preadv, false, true, 3},  {SYS_preadv2, false, true, 3},  {SYS_write, true, false, -1},
    {SYS_writev, true, true, -1},  {SYS_pwrite64, true, false, 3}, {SYS_pwritev, true, true, 3},
    {SYS_pwritev2, true, true, 3},
};

const Access* access_of(const Call& call, bool writes) {
  for (const Access& access : kAccesses)
    if (access.number == call.number && access.writes == writes) return &access;
  return nullptr;
}

Spans spans_of(const Call& call, const Access& access, Span& single) {
  single = {reinterpret_cast<std::byte*>(call.logged[1]), static_cast<std::uint64_t>(call.logged[2])};
  if (!access.vector) return {&single, 1};
  return {reinterpret_cast<const Span*>(call.logged[1]), static_cast<std::uint32_t>(call.logged[2])};
}

bool at_position(const Call& call, const Access& access) {
  return access.offset < 0 || (call.row->at.flags >= 0 && call.logged[access.offset] == -1);  // preadv2, pwritev2
}

bool model_read(Call& call, RecordedFile& file, long& result) {
  const Access* access = access_of(call, false);
  if (access == nullptr) return false;
  if (access->vector && static_cast<std::uint64_t>(call.logged[2]) > 1024)
    return result = complete(call, -EINVAL), true;
  const bool moves = at_position(call, *access);
  const std::int64_t offset = moves ? file.position : call.logged[access->offset];
  if (offset < 0) return result = complete(call, -EINVAL), true;
  Span single;
  const Spans spans = spans_of(call, *access, single);
  result = read_contents(call, file.contents, offset, spans);
  if (moves) file.position = offset + result;
  static Output outputs[kMaxOutputs];
  log_call(call, result, outputs, outputs_of(spans, static_cast<std::uint64_t>(result), outputs));
  return true;
}

bool model_seek(Call& call, RecordedFile& file, long& result) {
  const std::int64_t bases[] = {0, file.position, contents_at(file.contents).size_now};
  if ((call.row->flags & kSeeks) == 0 || call.logged[2] < SEEK_SET || call.logged[2] > SEEK_END) return false;
  const std::int64_t to = bases[call.logged[2]] + call.logged[1];
  if (to >= 0) file.position = to;
  return result = complete(call, to < 0 ? -EINVAL : to), true;
}

// Answers a request for the status of `file`: the size is the run's, the rest is as recorded, or as reported when the
// file was opened.
bool model_status(Call& call, const RecordedFile& file, long& result) {
  if (!tells_own_status(call)) return false;
  const long slot = call.logged[call.row->outs[0].arg];
  const Contents& contents = contents_at(file.contents);
  struct stat status = {};
  status.st_dev = contents.device;
  status.st_ino = contents.inode;
  status.st_mode = contents.mode;
  status.st_nlink = 1;
  status.st_blksize = 4096;
  if (RecordedCall* recorded = find_recorded(call)) {
    recorded->used = true;
    for_each_output(*recorded, [&status](const wire::OutputChunk& chunk, const std::byte* data) {
      if (chunk.bytes == sizeof status) memcpy(&status, data, sizeof status);
    });
  }
  status.st_size = contents.size_now;
  status.st_blocks = (contents.size_now + 511) / 512;
  const Span place = {reinterpret_cast<std::byte*>(slot), sizeof status};
  copy_out({&place, 1}, 0, reinterpret_cast<const std::byte*>(&status), sizeof status);
  return result = log_value(call, 0, static_cast<std::uint64_t>(slot), sizeof status), true;
}

}  // namespace

long read_contents(const Call& call, std::uint32_t index, std::int64_t offset, const Spans& to) {
  const std::int64_t left = std::max<std::int64_t>(contents_at(index).size_now - offset, 0);
  const auto bytes = std::min(left, static_cast<std::int64_t>(to.bytes()));
  static constexpr std::byte kZeros[4096] = {};
  for (std::int64_t done = 0; done < bytes;) {
    const Found known = look_up(index, offset + done, offset + bytes);
    if (known.bytes == 0) leave_at(call, offset, bytes);
    const std::int64_t part = known.data == nullptr ? std::min<std::int64_t>(known.bytes, sizeof kZeros) : known.bytes;
    copy_out(to, static_cast<std::uint64_t>(done), known.data == nullptr ? kZeros : known.data,
             static_cast<std::uint64_t>(part));
    done += part;
  }
  return static_cast<long>(bytes);
}

void put_contents(const Call& call, std::uint32_t index, std::int64_t offset, const Spans& from) {
  Contents& contents = contents_at(index);
  const auto bytes = static_cast<std::int64_t>(from.bytes());
  if (offset > contents.size_now) add_change(call, index, contents.size_now, offset, false);
  std::byte* to = add_change(call, index, offset, offset + bytes, true);
  for (std::uint32_t i = 0; i < from.count && to != nullptr; i++) {
    memcpy(to, from.list[i].data, from.list[i].bytes);
    to += from.list[i].bytes;
  }
  contents.size_now = std::max(contents.size_now, offset + bytes);
}

bool model_contents_call(Call& call, RecordedFile& file, long& result) {
  return model_read(call, file, result) || model_seek(call, file, result) || model_status(call, file, result);
}

void write_contents(const Call& call, RecordedFile& file) {
  if (call.row->at.change == HowChanged::kSize) return resize(call, file.contents, call.logged[1]);
  const Access* access = access_of(call, true);
  if (access == nullptr) return;
  const Contents& contents = contents_at(file.contents);
  Span single;
  const Spans spans = spans_of(call, *access, single);
  const bool moves = at_position(call, *access);
  const auto bytes = static_cast<std::int64_t>(spans.bytes());
  const std::int64_t offset = file.appends ? contents.size_now : moves ? file.position : call.logged[access->offset];
  put_contents(call, file.contents, offset, spans);
  if (moves) file.position = offset + bytes;
}

void identify_modelled(long fd, wire::NamedFiles& to) {
  const std::uint32_t index = file_of(fd);
  if (index == kNothing) return;
  const RecordedFile& file = recorded_file(index);
  if (file.source != Source::kRecorded) to.mode = S_IFCHR;
  if (file.contents == kNothing) return;
  const Contents& contents = contents_at(file.contents);
  to.device = contents.device;
  to.inode = contents.inode;
  to.size = contents.size_now;
  to.mode = contents.mode;
}

void open_contents(const Call& call, RecordedFile& file, long flags) {
  file.position = 0;
  if (reliable_contents(file) != nullptr && (flags & O_TRUNC) != 0) resize(call, file.contents, 0);
}

}  // namespace reweave::core
