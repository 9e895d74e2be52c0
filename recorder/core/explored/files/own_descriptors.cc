#include "recorder/core/explored/files/own_descriptors.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/copies.h"
#include "recorder/core/explored/files/outside.h"
#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/files/polls.h"
#include "recorder/core/explored/files/status.h"
#include "recorder/core/explored/files/transfers.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/recorded/calls.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// The two numbers of a pipe or socket pair: the recorded ones, or unused ones.
long take_pair(Call& call, int slot, const Descriptor (&ends)[2], bool closes_on_exec) {
  std::int32_t numbers[2] = {-1, -1};
  if (RecordedCall* entry = find_recorded(call)) {
    entry->used = true;
    const wire::SyscallRecord& record = record_of(*entry);
    const std::uint64_t header = sizeof record + sizeof(wire::OutputChunk);
    if (record.result == 0 && record.header.bytes >= header + sizeof numbers)
      memcpy(numbers, reinterpret_cast<const std::byte*>(&record) + header, sizeof numbers);
  }
  for (int i = 0; i < 2; i++) {
    long fd = numbers[i];
    if (fd < 0 || !number_is_free(fd)) fd = unused_number(0);
    if (is_error(fd)) return fd;
    numbers[i] = static_cast<std::int32_t>(fd);
    occupy(fd, ends[i], closes_on_exec);
  }
  memcpy(reinterpret_cast<void*>(call.logged[slot]), numbers, sizeof numbers);
  return log_value(call, 0, static_cast<std::uint64_t>(call.logged[slot]), sizeof numbers);
}

long too_many(Call& call) { return complete(call, -ENFILE); }

long make_pipe(Call& call) {
  const long flags = call.row->at.flags < 0 ? 0 : call.logged[call.row->at.flags];
  if ((flags & ~(O_CLOEXEC | O_NONBLOCK)) != 0) leave_recording(call, "packets in pipes are not modelled");
  ChannelFile *reader = new_channel(ChannelKind::kPipe), *writer = new_channel(ChannelKind::kPipe);
  ByteQueue* queue = new_queue();
  if (reader == nullptr || writer == nullptr || queue == nullptr) return too_many(call);
  queue->paged = true;
  reader->in = writer->out = queue;
  reader->nonblocking = writer->nonblocking = (flags & O_NONBLOCK) != 0;
  const Descriptor ends[2] = {{FileOf::kChannel, false, reader, nullptr, 0},
                              {FileOf::kChannel, false, writer, nullptr, 0}};
  return take_pair(call, 0, ends, (flags & O_CLOEXEC) != 0);
}

bool make_socket_pair(Call& call, long& result) {
  const long type = call.logged[1] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (call.logged[0] != AF_UNIX || (type != SOCK_STREAM && type != SOCK_SEQPACKET)) return false;
  ChannelFile* ends[2] = {new_channel(ChannelKind::kSocket), new_channel(ChannelKind::kSocket)};
  ByteQueue* both[2] = {new_queue(), new_queue()};
  if (ends[0] == nullptr || ends[1] == nullptr || both[0] == nullptr || both[1] == nullptr)
    return result = too_many(call), true;
  for (int i = 0; i < 2; i++) {
    both[i]->messages = type != SOCK_STREAM;
    ends[i]->in = both[i];
    ends[i]->out = both[1 - i];
    ends[i]->peer = ends[1 - i];
    ends[i]->nonblocking = (call.logged[1] & SOCK_NONBLOCK) != 0;
  }
  const Descriptor to[2] = {{FileOf::kChannel, false, ends[0], nullptr, 0},
                            {FileOf::kChannel, false, ends[1], nullptr, 0}};
  result = take_pair(call, 3, to, (call.logged[1] & SOCK_CLOEXEC) != 0);
  return true;
}

long make_counter(Call& call) {
  const long flags = call.row->at.flags < 0 ? 0 : call.logged[call.row->at.flags];
  ChannelFile* file = new_channel(ChannelKind::kCounter);
  if (file == nullptr) return too_many(call);
  file->counter = static_cast<std::uint32_t>(call.logged[0]);
  file->semaphore = (flags & EFD_SEMAPHORE) != 0;
  file->nonblocking = (flags & EFD_NONBLOCK) != 0;
  const Descriptor to = {FileOf::kChannel, false, file, nullptr, 0};
  return complete(call, new_descriptor(call, to, (flags & EFD_CLOEXEC) != 0));
}

long make_epoll(Call& call) {
  Poller* poller = make_poller();
  if (poller == nullptr) return too_many(call);
  const Descriptor to = {FileOf::kPoller, false, nullptr, poller, 0};
  const bool closes = call.row->at.flags >= 0 && (call.logged[call.row->at.flags] & EPOLL_CLOEXEC) != 0;
  return complete(call, new_descriptor(call, to, closes));
}

long duplicate(Call& call, const Descriptor& from) {
  long to = -EINVAL;
  const CallPlaces& at = call.row->at;
  if ((call.row->flags & kDuplicates) == 0) {  // fcntl
    const long least = call.logged[2];
    RecordedCall* entry = find_recorded(call);
    if (entry != nullptr) entry->used = true;
    to = entry == nullptr ? -EINVAL : record_of(*entry).result;
    if (is_error(to) || to < least || !number_is_free(to))
      to = number_is_free(least) && !is_recorded_descriptor(least) ? least : unused_number(least);
    if (!is_error(to)) occupy(to, from, call.logged[1] == F_DUPFD_CLOEXEC);
  } else if (at.to < 0) {
    to = new_descriptor(call, from, false);
  } else if (call.logged[0] == call.logged[at.to]) {
    return complete(call, at.flags < 0 ? call.logged[at.to] : -EINVAL);
  } else if (descriptor_at(call.logged[at.to]) != nullptr) {
    to = call.logged[at.to];
    close_number(to);
    occupy(to, from, at.flags >= 0 && call.logged[at.flags] != 0);
  }
  if (!is_error(to)) add_reference(from);
  return complete(call, to);
}

long file_flags(const Descriptor& at) {
  if (at.kind == FileOf::kPoller) return O_RDWR;
  const ChannelFile& file = *at.channel;
  const long access = file.kind == ChannelKind::kPipe ? (file.in != nullptr ? O_RDONLY : O_WRONLY) : O_RDWR;
  return access | (file.nonblocking ? O_NONBLOCK : 0);
}

long control(Call& call, Descriptor& at) {
  switch (call.logged[1]) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return duplicate(call, at);
    case F_GETFL:
      return complete(call, file_flags(at));
    case F_SETFL:
      if (at.kind == FileOf::kChannel) at.channel->nonblocking = (call.logged[2] & O_NONBLOCK) != 0;
      return complete(call, 0);
    case F_GETFD:
      return complete(call, at.closes_on_exec ? FD_CLOEXEC : 0);
    case F_SETFD:
      at.closes_on_exec = (call.logged[2] & FD_CLOEXEC) != 0;
      return complete(call, 0);
    case F_GETPIPE_SZ:
      return complete(call, kPipeSlots * kSlotBytes);
    default:
      leave_recording(call, "this command is not modelled for descriptors that the run has opened");
  }
}

long request(Call& call, Descriptor& at) {
  auto* value = reinterpret_cast<std::int32_t*>(call.logged[2]);
  switch (static_cast<std::uint32_t>(call.logged[1])) {
    case FIONREAD:
      if (at.kind != FileOf::kChannel) break;
      *value = static_cast<std::int32_t>(bytes_to_read(*at.channel));
      return log_value(call, 0, static_cast<std::uint64_t>(call.logged[2]), sizeof *value);
    case FIONBIO:
      if (at.kind == FileOf::kChannel) at.channel->nonblocking = *value != 0;
      return complete(call, 0);
    case FIOCLEX:
    case FIONCLEX:
      at.closes_on_exec = call.logged[1] == FIOCLEX;
      return complete(call, 0);
    default:
      break;
  }
  return complete(call, -ENOTTY);
}

// SO_RCVTIMEO and SO_SNDTIMEO (socket(7)). False: another option.
bool set_limit(Call& call, Descriptor& at, long& result) {
  constexpr long kLimits[][2] = {{20, 66}, {21, 67}};  // also with 64 bits, which makes no difference here
  constexpr std::int64_t kSecond = 1'000'000'000, kMicrosecond = 1'000;
  const auto address = static_cast<std::uint64_t>(call.logged[3]);
  const bool of_socket = at.kind == FileOf::kChannel && at.channel->kind == ChannelKind::kSocket;
  if (!of_socket || call.logged[1] != SOL_SOCKET || call.logged[4] < 16 || bytes_there(address, 16) != 16) return false;
  for (int i = 0; i < 2; i++) {
    if (call.logged[2] != kLimits[i][0] && call.logged[2] != kLimits[i][1]) continue;
    const auto* time = reinterpret_cast<const std::int64_t*>(address);
    at.channel->limits[i] = time[0] * kSecond + time[1] * kMicrosecond;
    result = complete(call, 0);
    return true;
  }
  return false;
}

// The known options of a socket. False: another option.
bool tell_option(Call& call, Descriptor& at, long& result) {
  auto* length = reinterpret_cast<std::uint32_t*>(call.logged[4]);
  if (at.kind != FileOf::kChannel || at.channel->kind != ChannelKind::kSocket || call.logged[1] != SOL_SOCKET)
    return false;
  std::int64_t value[2] = {};
  std::uint64_t bytes = sizeof(std::int32_t);
  if (call.logged[2] == SO_ERROR) {
    value[0] = at.channel->error;
    at.channel->error = 0;
  } else if (call.logged[2] == SO_TYPE) {
    value[0] = at.channel->in->messages ? SOCK_SEQPACKET : SOCK_STREAM;
  } else if (call.logged[2] == SO_RCVTIMEO || call.logged[2] == SO_SNDTIMEO) {
    const std::int64_t limit = at.channel->limits[call.logged[2] == SO_SNDTIMEO ? 1 : 0];
    value[0] = limit / 1'000'000'000;
    value[1] = limit % 1'000'000'000 / 1'000;
    bytes = sizeof value;
  } else {
    return false;
  }
  const std::uint64_t given = *length < bytes ? *length : bytes;
  memcpy(reinterpret_cast<void*>(call.logged[3]), value, given);
  *length = static_cast<std::uint32_t>(given);
  const Output outputs[2] = {{static_cast<std::uint64_t>(call.logged[3]), given},
                             {static_cast<std::uint64_t>(call.logged[4]), sizeof *length}};
  log_call(call, 0, outputs, 2);
  return result = 0, true;
}

Descriptor& own_descriptor(const Call& call) { return *descriptor_at(call.logged[0]); }

bool is_duplicate(const Call& call) {
  if (call.row->explored == explore_fcntl) return call.logged[1] == F_DUPFD || call.logged[1] == F_DUPFD_CLOEXEC;
  return (call.row->flags & kDuplicates) != 0;
}

// fcntl of a file that only this run has opened.
bool tell_flags(Call& call, std::uint32_t file, long& result) {
  constexpr long kOfOpening = O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC | O_DIRECTORY | O_TMPFILE;
  constexpr long kLargeFile = 0100000;  // which the kernel always has on
  const bool asks = call.row->explored == explore_fcntl && call.logged[1] == F_GETFL;
  if (!asks || recorded_file(file).flags < 0) return false;
  return result = complete(call, (recorded_file(file).flags & ~kOfOpening) | kLargeFile), true;
}

// A call on a descriptor that refers to an open file of the recording. False: the recording answers.
bool use_outside_file(Call& call, Descriptor& at, std::uint32_t file, long& result) {
  if (call.row->explored == explore_close) {
    forget_outside_watches(call.logged[0], file);
    if (RecordedCall* entry = find_recorded(call)) entry->used = true;
    close_number(call.logged[0]);
    return result = complete(call, 0), true;
  }
  if (is_duplicate(call)) {
    Descriptor from = at;
    from.opened = file + 1;
    return result = duplicate(call, from), true;
  }
  if (tell_flags(call, file, result)) return true;
  refuse_passed_channels(call);
  if (sends_outside(call.number) && first_input(file) != nullptr) {  // the outside answers
    note_output(file);
    wake_satisfied();
  }
  return model_outside_call(call, recorded_file(file), result);
}

}  // namespace

bool explore_pipe(Call& call, long& result) { return result = make_pipe(call), true; }
bool explore_socketpair(Call& call, long& result) { return make_socket_pair(call, result); }
bool explore_eventfd(Call& call, long& result) { return result = make_counter(call), true; }
bool explore_epoll(Call& call, long& result) { return result = make_epoll(call), true; }

// Called for descriptors of the run's own only.
bool explore_close(Call& call, long& result) { return close_number(call.logged[0]), result = complete(call, 0), true; }
bool explore_dup(Call& call, long& result) { return result = duplicate(call, own_descriptor(call)), true; }
bool explore_fcntl(Call& call, long& result) { return result = control(call, own_descriptor(call)), true; }
bool explore_ioctl(Call& call, long& result) { return result = request(call, own_descriptor(call)), true; }
bool explore_seek(Call& call, long& result) { return result = complete(call, -ESPIPE), true; }
bool explore_close_range(Call& call, long& result) {
  constexpr long kUnshares = 2, kOnlyMarks = 4;  // CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC
  const auto first = static_cast<std::uint32_t>(call.logged[0]), last = static_cast<std::uint32_t>(call.logged[1]);
  if (first > last || (call.logged[2] & ~(kUnshares | kOnlyMarks)) != 0) return result = complete(call, -EINVAL), true;
  if ((call.logged[2] & kUnshares) != 0 && state().live_threads > 1)
    leave_recording(call, "it gives a thread its own table of descriptors and closes some of them");
  for (std::uint32_t fd = first; fd <= last && fd < kMaxFds; fd++) {
    const Descriptor at = *descriptor_at(fd);
    const std::uint32_t file = file_of(fd);
    if (at.kind == FileOf::kClosed || (at.kind == FileOf::kOutside && file == kNothing)) continue;
    if ((call.logged[2] & kOnlyMarks) != 0) {
      occupy(fd, at, true);
      continue;
    }
    if (file != kNothing) forget_outside_watches(fd, file);
    close_number(fd);
  }
  return result = complete(call, 0), true;
}
bool explore_invalid(Call& call, long& result) { return result = complete(call, -EINVAL), true; }
bool explore_setsockopt(Call& call, long& result) { return set_limit(call, own_descriptor(call), result); }
bool explore_getsockopt(Call& call, long& result) { return tell_option(call, own_descriptor(call), result); }

bool is_file_operation(const Call& call) {
  if (!has_own_files()) return false;
  if ((call.row->flags & (kPollsList | kPollsSets | kPollsEvents)) != 0) return true;
  if ((call.row->flags & kFirstIsFd) == 0) return false;
  const Descriptor* at = descriptor_at(call.logged[0]);
  return at != nullptr && (at->kind == FileOf::kChannel || at->kind == FileOf::kPoller);
}

std::uint64_t file_object() { return own_files_object(); }

long new_descriptor(const Call& call, const Descriptor& descriptor, bool closes_on_exec) {
  long fd = -1;
  if (RecordedCall* entry = find_recorded(call)) {
    entry->used = true;
    fd = record_of(*entry).result;
  }
  if (is_error(fd) || !number_is_free(fd)) fd = unused_number(0);
  if (!is_error(fd)) occupy(fd, descriptor, closes_on_exec);
  return fd;
}

long take_outside_number(const Call& call, long fd, std::uint32_t file, bool closes_on_exec) {
  if (!number_is_free(fd)) fd = unused_number(0);
  if (is_error(fd)) leave_recording(call, "no descriptor number is free");
  occupy(fd, {FileOf::kOutside, false, nullptr, nullptr, file + 1}, closes_on_exec);
  return fd;
}

bool model_file_call(Call& call, long& result) {
  if (answer_at(ExploredStep::kNewFile, call, result) || model_poll_call(call, result)) return true;
  if (model_copy(call, result)) return true;
  if ((call.row->flags & kFirstIsFd) == 0 && !is_duplicate(call) && !tells_own_status(call)) return false;
  Descriptor* at = descriptor_at(call.logged[0]);
  if (at == nullptr) return false;
  if (at->kind == FileOf::kClosed) return result = complete(call, -EBADF), true;
  if (at->kind != FileOf::kOutside && call.row->step == ExploredStep::kOwnFile) return call.row->explored(call, result);
  if (at->kind != FileOf::kOutside) return at->kind == FileOf::kChannel && transfer(call, *at->channel, result);
  const std::uint32_t file = file_of(call.logged[0]);
  return file != kNothing && use_outside_file(call, *at, file, result);
}

}  // namespace reweave::core
