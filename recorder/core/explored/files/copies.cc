#include "recorder/core/explored/files/copies.h"

#include <fcntl.h>

#include <algorithm>

#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/files/contents.h"
#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/files/transfers.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/recorded/contents.h"
#include "recorder/core/explored/recorded/files.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kPortion = 64 << 10;  // moved at a time
std::byte portion[kPortion];

// One end of a copy.
struct End {
  ChannelFile* channel;  // or
  RecordedFile* file;    // outside, or null
  std::int64_t* offset;  // the caller's position in the file; null: the file's own
};

End end_of(const Call& call, int fd_argument, int offset_argument) {
  const long fd = static_cast<std::int32_t>(call.logged[fd_argument]);
  const Descriptor* at = descriptor_at(fd);
  End end = {nullptr, nullptr, nullptr};
  if (at != nullptr && at->kind == FileOf::kChannel) end.channel = at->channel;
  if (const std::uint32_t file = file_of(fd); file != kNothing) end.file = &recorded_file(file);
  if (offset_argument >= 0) end.offset = reinterpret_cast<std::int64_t*>(call.logged[offset_argument]);
  return end;
}

bool has_contents(const End& end) { return end.file != nullptr && reliable_contents(*end.file) != nullptr; }
std::int64_t& place_in(const End& end) { return end.offset != nullptr ? *end.offset : end.file->position; }

struct Copy {
  Call& call;
  End from, to;
  bool peeks, waits;
};

// Puts the next bytes of the source, at most `most`, into `portion` without consuming them. Returns the number of
// bytes, an error, or 0 at the source's end.
long look(const Copy& copy, std::uint64_t most) {
  const Span span = {portion, std::min(most, kPortion)};
  const Spans spans = {&span, 1};
  if (copy.from.channel == nullptr) {
    const std::int64_t left =
        std::max<std::int64_t>(contents_at(copy.from.file->contents).size_now - place_in(copy.from), 0);
    const bool needs_data = copy.to.channel != nullptr || has_contents(copy.to);
    if (!needs_data) return std::min<std::int64_t>(left, static_cast<std::int64_t>(span.bytes));
    return read_contents(copy.call, copy.from.file->contents, place_in(copy.from), spans);
  }
  const long waited = wait_for_channel(*copy.from.channel, false, copy.waits);
  return waited != 0 ? waited : read_channel(*copy.from.channel, spans, true);
}

// Returns how many of the `bytes` bytes of `portion` the destination takes.
long put(const Copy& copy, std::uint64_t bytes) {
  const Span span = {portion, bytes};
  if (copy.to.channel != nullptr) {
    const long waited = wait_for_channel(*copy.to.channel, true, copy.waits);
    return waited != 0 ? waited : write_channel(*copy.to.channel, {&span, 1}, 0);
  }
  if (!has_contents(copy.to)) return static_cast<long>(bytes);  // outside
  put_contents(copy.call, copy.to.file->contents, place_in(copy.to), {&span, 1});
  place_in(copy.to) += static_cast<std::int64_t>(bytes);
  return static_cast<long>(bytes);
}

void take(const Copy& copy, std::uint64_t bytes) {
  const Span span = {portion, bytes};
  if (copy.peeks) return;
  if (copy.from.channel != nullptr)
    read_channel(*copy.from.channel, {&span, 1}, false);
  else
    place_in(copy.from) += static_cast<std::int64_t>(bytes);
}

// sendfile and copy_file_range continue until the source ends; the others move what is available.
long move(const Copy& copy, std::uint64_t count, bool all) {
  std::uint64_t done = 0;
  while (done < count) {
    long n = look(copy, count - done);
    if (n > 0) n = put(copy, static_cast<std::uint64_t>(n));
    if (n <= 0) return done != 0 ? static_cast<long>(done) : n;
    take(copy, static_cast<std::uint64_t>(n));
    wake_satisfied();
    done += static_cast<std::uint64_t>(n);
    if (!all) break;
  }
  return static_cast<long>(done);
}

long log_copy(Call& call, const Copy& copy, long result) {
  Output outputs[2];
  std::uint32_t n = 0;
  for (const std::int64_t* offset : {copy.from.offset, copy.to.offset})
    if (offset != nullptr && !is_error(result))
      outputs[n++] = {reinterpret_cast<std::uint64_t>(offset), sizeof *offset};
  log_call(call, result, outputs, n);
  return result;
}

}  // namespace

bool model_copy(Call& call, long& result) {
  constexpr long kNonblocking = 2;  // SPLICE_F_NONBLOCK
  const CallPlaces& at = call.row->at;
  if (at.from < 0 || at.to < 0 || at.count < 0) return false;
  const bool between_pipes = (call.row->flags & kBetweenPipes) != 0;
  Copy copy = {call, end_of(call, at.from, at.in_offset), end_of(call, at.to, at.offset), at.in_offset < 0, true};
  const bool own = copy.from.channel != nullptr || copy.to.channel != nullptr;
  if (!own && !has_contents(copy.from)) return false;
  if (copy.from.channel == nullptr && !has_contents(copy.from))
    leave_recording(call, "it copies data that was not recorded");
  const long to = static_cast<std::int32_t>(call.logged[at.to]);
  if (copy.to.channel == nullptr && (copy.to.file == nullptr || fd_stream(to) != 0)) {
    if (!own) return false;
    leave_recording(call, "a copy in the kernel to a file outside of the run is not modelled");
  }
  if (!own && !has_contents(copy.to) && copy.to.file->contents != kNothing) return false;
  if ((copy.from.channel != nullptr && copy.from.offset != nullptr) ||
      (copy.to.channel != nullptr && copy.to.offset != nullptr))
    return result = complete(call, -ESPIPE), true;
  const bool from_is_nonblocking = copy.from.channel != nullptr && copy.from.channel->nonblocking;
  const bool to_is_nonblocking = copy.to.channel != nullptr && copy.to.channel->nonblocking;
  copy.waits =
      !from_is_nonblocking && !to_is_nonblocking && (!between_pipes || (call.logged[at.flags] & kNonblocking) == 0);
  ChannelFile* used[2] = {copy.from.channel, copy.to.channel};
  for (ChannelFile* file : used)
    if (file != nullptr) file->references++;
  if (copy.to.channel == nullptr && !has_contents(copy.to)) note_output(file_of(to));
  result = move(copy, static_cast<std::uint64_t>(call.logged[at.count]), !between_pipes);
  if (result == -EPIPE) send_modelled_to_self(13 /* SIGPIPE */);
  log_copy(call, copy, result);
  for (ChannelFile* file : used)
    if (file != nullptr) drop_reference(*file);
  return true;
}

}  // namespace reweave::core
