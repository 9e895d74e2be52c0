#include "recorder/core/explored/files/outside.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/base/hash.h"
#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/contents.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/recorded/outputs_of.h"
#include "recorder/core/explored/tasks/timers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostSpans = 1024;  // UIO_MAXIOV

struct Message {  // struct user_msghdr
  std::uint64_t name;
  std::int32_t name_bytes;
  std::uint64_t vector, vector_length;
  std::uint64_t control, control_bytes;
  std::uint32_t flags;
};

// A read, in whichever way it passes memory.
struct Reading {
  Span single;
  Spans to;
  Message* message;  // or null
  long flags;        // MSG_...
};

bool parse(const Call& call, Reading& to) {
  to = {{reinterpret_cast<std::byte*>(call.logged[1]), static_cast<std::uint64_t>(call.logged[2])}, {}, nullptr, 0};
  to.to = {&to.single, 1};
  const SyscallRow& row = *call.row;
  if (tells_sender(row)) return to.flags = call.logged[row.at.flags], true;
  if (row.at.offset >= 0) return false;  // the call gives an offset, but such files have no position
  if ((row.flags & kTellsPlace) != 0) return true;
  if ((row.flags & kHasMessage) != 0 && (row.flags & kSendsWhole) == 0) {
    to.message = reinterpret_cast<Message*>(call.logged[1]);
    to.to = {reinterpret_cast<const Span*>(to.message->vector), static_cast<std::uint32_t>(to.message->vector_length)};
    to.flags = call.logged[row.at.flags];
    return to.message->vector_length <= kMostSpans;
  }
  if (row.outs[0].kind != OutKind::kVector || (row.flags & kFirstIsFd) == 0 || (row.flags & kWritesStream) != 0)
    return false;
  to.to = {reinterpret_cast<const Span*>(call.logged[1]), static_cast<std::uint32_t>(call.logged[2])};
  return static_cast<std::uint64_t>(call.logged[2]) <= kMostSpans;
}

bool was_interrupted(long result) { return result == -EINTR || result == -512 /* ERESTARTSYS */; }

// Returns the next input that answers a read; null if there is none. If the last input was the end of the file, it is
// returned again. Sets `never_waits` if a recorded read failed with -EAGAIN.
RecordedCall* next_answer(const RecordedFile& file, bool& never_waits) {
  RecordedCall* last = nullptr;
  never_waits = false;
  if (file.inputs == kNothing) return nullptr;
  for (RecordedCall* call = &recorded_call_at(file.inputs); call != nullptr; call = next_input(*call)) {
    const long result = record_of(*call).result;
    if (was_interrupted(result)) call->used = true;  // that signal is not this run's
    never_waits = never_waits || result == -EAGAIN;
    if (!call->used) return call;
    last = call;
  }
  return last != nullptr && record_of(*last).result == 0 ? last : nullptr;
}

bool has_answer(const void* what) {
  bool never_waits = false;
  return next_answer(*static_cast<const RecordedFile*>(what), never_waits) != nullptr;
}

// Waits for input, although the recording has no more of it. Returns -EINTR or -EAGAIN.
long wait_for_ever(const RecordedFile& file) {
  return wait_until({&file, 0, has_answer, nullptr, true}, kNoDeadline) == WaitResult::kInterrupted ? -EINTR : -EAGAIN;
}

// The parts of a message besides its data, as far as they fit.
std::uint32_t give_headers(const Call& call, const Reading& reading, const RecordedCall& input, Output* outputs,
                           std::uint32_t n) {
  if (reading.message == nullptr) return n;
  Message& own = *reading.message;
  Message told = {};
  const std::int32_t name_room = own.name_bytes;
  const std::uint64_t control_room = own.control_bytes;
  for_each_output(input, [&](const wire::OutputChunk& chunk, const std::byte* data) {
    if ((find_row(record_of(input).number)->flags & kHasMessage) == 0) return;
    const bool is_header = told.vector == 0 && chunk.bytes == sizeof told;
    if (is_header) {
      memcpy(&told, data, sizeof told);
      return;
    }
    const bool is_name = told.name != 0 && chunk.address == told.name;
    const bool is_control = told.control != 0 && chunk.address == told.control;
    if (!is_name && !is_control) return;
    const Span place = {reinterpret_cast<std::byte*>(is_name ? own.name : own.control),
                        is_name ? static_cast<std::uint64_t>(name_room) : control_room};
    if (place.data == nullptr) return;
    if (is_control && chunk.bytes > place.bytes) leave_recording(call, "its control data does not fit");
    const std::uint64_t bytes = copy_out({&place, 1}, 0, data, chunk.bytes);
    if (bytes != 0) outputs[n++] = {reinterpret_cast<std::uint64_t>(place.data), bytes};
  });
  own.name_bytes = told.name_bytes;
  own.control_bytes = own.control == 0 ? 0 : told.control_bytes;
  own.flags = told.flags;
  outputs[n++] = {static_cast<std::uint64_t>(call.logged[1]), sizeof own};
  return n;
}

// The sender's address of recvfrom.
std::uint32_t give_address(const Call& call, const RecordedCall& input, Output* outputs, std::uint32_t n) {
  if (!asks_for_sender(*call.row, call.logged)) return n;
  auto& length = *reinterpret_cast<std::uint32_t*>(call.logged[5]);
  const Span place = {reinterpret_cast<std::byte*>(call.logged[4]), call.logged[4] == 0 ? 0 : length};
  const wire::SyscallRecord& record = record_of(input);
  length = 0;
  for_each_output(input, [&](const wire::OutputChunk& chunk, const std::byte* data) {
    if (!tells_sender(*find_row(record.number)) || chunk.address == record.args[1]) return;
    if (chunk.address == record.args[5]) {
      memcpy(&length, data, sizeof length);
      return;
    }
    const std::uint64_t bytes = copy_out({&place, 1}, 0, data, chunk.bytes);
    if (bytes != 0) outputs[n++] = {reinterpret_cast<std::uint64_t>(place.data), bytes};
  });
  outputs[n++] = {static_cast<std::uint64_t>(call.logged[5]), sizeof length};
  return n;
}

// Gives the reader what it asks for from `input`, and no more.
long take_input(Call& call, const Reading& reading, const RecordedFile& file, RecordedCall& input) {
  static Output outputs[kMaxOutputs];
  const long recorded = record_of(input).result;
  if (recorded <= 0) {
    input.used = true;
    return complete(call, recorded);
  }
  std::uint64_t at = 0, given = 0;
  for_each_input_chunk(input, [&](const std::byte* data, std::uint64_t bytes) {
    const std::uint64_t had = at < input.taken ? input.taken - at < bytes ? input.taken - at : bytes : 0;
    given += copy_out(reading.to, given, data + had, bytes - had);
    at += bytes;
  });
  if ((reading.flags & MSG_PEEK) == 0) {
    input.taken += static_cast<std::uint32_t>(given);
    input.used = file.datagrams || input.taken >= at;
  }
  std::uint32_t n = outputs_of(reading.to, given, outputs);
  if (n > kMaxOutputs - 4) leave_recording(call, "its vector is too long");
  n = give_headers(call, reading, input, outputs, n);
  n = give_address(call, input, outputs, n);
  log_call(call, static_cast<long>(given), outputs, n);
  return static_cast<long>(given);
}

bool model_read(Call& call, const RecordedFile& file, long& result) {
  Reading reading;
  if (!parse(call, reading)) return false;
  bool never_waits = false;
  RecordedCall* input = next_answer(file, never_waits);
  if (input != nullptr && timers_are_armed() && was_interrupted(record_of(*input).result)) return false;
  if (reading.to.bytes() == 0 && reading.message == nullptr) return result = complete(call, 0), true;
  if (input == nullptr && file.inputs == kNothing) return false;
  if (input == nullptr) {
    const bool waits = !never_waits && (reading.flags & MSG_DONTWAIT) == 0;
    result = waits ? wait_for_ever(file) : -EAGAIN;
    return complete(call, result), true;
  }
  return result = take_input(call, reading, file, *input), true;
}

// Answers a read from a known device, such as /dev/zero, without the recording.
bool read_source(Call& call, const RecordedFile& file, long& result) {
  Reading reading;
  if (file.source == Source::kRecorded || !parse(call, reading)) return false;
  for (std::uint32_t i = 0; i < reading.to.count && file.source != Source::kEmpty; i++)
    if (file.source == Source::kRandom)
      fill_randomly(reading.to.list[i]);
    else
      memset(reading.to.list[i].data, 0, reading.to.list[i].bytes);
  static Output outputs[kMaxOutputs];
  const std::uint64_t bytes = file.source == Source::kEmpty ? 0 : reading.to.bytes();
  log_call(call, static_cast<long>(bytes), outputs, outputs_of(reading.to, bytes, outputs));
  return result = static_cast<long>(bytes), true;
}

bool is_of(const RecordedCall& recorded, const RecordedFile& file) {
  return recorded.file != kNothing && &recorded_file(recorded.file) == &file;
}

// The entries of a folder: as many whole ones as fit.
bool model_listing(Call& call, const RecordedFile& file, long& result) {
  if ((call.row->flags & kListsFolder) == 0) return false;
  RecordedCall* found = nullptr;
  for (RecordedCall* entry = first_recorded(call.number); entry != nullptr && found == nullptr;
       entry = next_recorded(*entry))
    if (is_of(*entry, file) && !entry->used && !is_error(record_of(*entry).result)) found = entry;
  if (found == nullptr) return false;
  const std::byte* list = nullptr;
  for_each_output(*found, [&list](const wire::OutputChunk&, const std::byte* data) {
    if (list == nullptr) list = data;
  });
  const auto all = static_cast<std::uint32_t>(record_of(*found).result);
  if (all == 0 || list == nullptr) return result = complete(call, 0), true;  // the end, also for later calls
  std::uint32_t bytes = 0;
  while (found->taken + bytes < all) {
    std::uint16_t length;  // of struct linux_dirent64
    memcpy(&length, list + found->taken + bytes + 16, sizeof length);
    if (length == 0 || bytes + length > static_cast<std::uint64_t>(call.logged[2])) break;
    bytes += length;
  }
  if (bytes == 0) return result = complete(call, -EINVAL), true;
  const Span place = {reinterpret_cast<std::byte*>(call.logged[1]), static_cast<std::uint64_t>(call.logged[2])};
  copy_out({&place, 1}, 0, list + found->taken, bytes);
  found->taken += bytes;
  found->used = found->taken >= all;
  return result = log_value(call, bytes, static_cast<std::uint64_t>(call.logged[1]), bytes), true;
}

// Restarts reading a folder from its beginning.
void begin_listing_again(const Call& call, const RecordedFile& file) {
  if ((call.row->flags & kSeeks) == 0 || call.logged[1] != 0 || call.logged[2] != 0) return;
  for (RecordedCall* entry = first_recorded(SYS_getdents64); entry != nullptr; entry = next_recorded(*entry))
    if (is_of(*entry, file)) entry->used = false, entry->taken = 0;
}

// Answers an accept for which the recording has no connection left. Only recorded connections are accepted.
bool wait_for_connection(Call& call, const RecordedFile& file, long& result) {
  if ((call.row->flags & kAccepts) == 0 || file.inputs == kNothing) return false;
  bool never_waits = false;
  if (next_answer(file, never_waits) != nullptr) return false;
  result = never_waits ? -EAGAIN : wait_for_ever(file);
  return complete(call, result), true;
}

}  // namespace

void fill_randomly(const Span& span) {
  IN_MODEL static std::uint64_t drawn;
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < span.bytes; i++) {
    if (i % 8 == 0) value = mix(mix(config().seed, drawn++), i);
    span.data[i] = static_cast<std::byte>(value >> i % 8 * 8);
  }
}

bool model_outside_call(Call& call, RecordedFile& file, long& result) {
  if (read_source(call, file, result)) return true;
  // Such a device has no position (null_lseek of the kernel).
  if (file.source != Source::kRecorded && (call.row->flags & kSeeks) != 0) return result = complete(call, 0), true;
  if (reliable_contents(file) != nullptr) return model_contents_call(call, file, result);
  begin_listing_again(call, file);
  return model_listing(call, file, result) || wait_for_connection(call, file, result) || model_read(call, file, result);
}

}  // namespace reweave::core
