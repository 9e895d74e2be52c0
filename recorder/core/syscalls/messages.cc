// Receiving messages, one or many: names, control data and vectors.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

struct MessageHeader {  // struct user_msghdr
  std::uint64_t name;
  std::int32_t name_length;
  std::uint64_t vector;
  std::uint64_t vector_length;
  std::uint64_t control;
  std::uint64_t control_length;
  std::uint32_t flags;
};

struct Part {  // struct iovec
  std::uint64_t base, bytes;
};

constexpr std::uint64_t kMostParts = 1024;  // UIO_MAXIOV

// A copy of a message's header and vector from before the call: the received data may overwrite them, after the kernel
// has read them.
struct Kept {
  MessageHeader header;
  Part parts[kMostParts];
};

Output message_outputs[kMaxOutputs];

// In scratch, for message `index` of the call.
Kept& kept_of(const Call& call, long index) { return *(reinterpret_cast<Kept*>(scratch_of(call.me)) + index); }

void keep(std::uint64_t address, Kept& kept) {
  MessageHeader& header = kept.header;
  header = {};
  if (bytes_there(address, sizeof header) == sizeof header) header = *reinterpret_cast<const MessageHeader*>(address);
  const std::uint64_t bytes = header.vector_length * sizeof(Part);
  if (header.vector_length > kMostParts || bytes_there(header.vector, bytes) != bytes) header.vector_length = 0;
  memcpy(kept.parts, reinterpret_cast<const void*>(header.vector), header.vector_length * sizeof(Part));
}

// The length that the kernel returns for a name may exceed the buffer and the longest possible name.
std::int32_t name_bytes(const MessageHeader& before, std::int32_t length) {
  constexpr std::int32_t kMost = 128;  // struct sockaddr_storage
  const std::int32_t room = before.name_length < kMost ? before.name_length : kMost;
  return length < room ? length : room;
}

// Notes the descriptors that came with a message (unix(7)).
void note_descriptors(std::uint64_t at, std::uint64_t bytes) {
  struct Control {  // struct cmsghdr
    std::uint64_t bytes;
    std::int32_t level, type;
  };
  constexpr std::int32_t kSocketLevel = 1, kRights = 1, kPidfd = 4;  // SOL_SOCKET, SCM_RIGHTS, SCM_PIDFD
  const std::uint64_t end = at + bytes;
  while (at != 0 && at + sizeof(Control) <= end) {
    const auto& control = *reinterpret_cast<const Control*>(at);
    if (control.bytes < sizeof(Control) || control.bytes > end - at) return;
    const auto* fds = reinterpret_cast<const std::int32_t*>(at + sizeof(Control));
    const std::uint64_t count = (control.bytes - sizeof(Control)) / sizeof *fds;
    const bool brings_any = control.level == kSocketLevel && (control.type == kRights || control.type == kPidfd);
    for (std::uint64_t i = 0; brings_any && i < count; i++) note_received(fds[i]);
    at += round_to(control.bytes, 8);
  }
}

std::uint32_t gather_message(const Kept& kept, std::uint64_t address, std::uint64_t received, std::uint32_t n) {
  const auto& message = *reinterpret_cast<const MessageHeader*>(address);
  const std::uint64_t name = kept.header.name, control = kept.header.control;
  note_descriptors(control, message.control_length);
  message_outputs[n++] = {address, sizeof(MessageHeader)};
  const std::int32_t length = name_bytes(kept.header, message.name_length);
  if (name != 0 && length > 0) message_outputs[n++] = {name, static_cast<std::uint64_t>(length)};
  if (control != 0 && message.control_length > 0) message_outputs[n++] = {control, message.control_length};
  for (std::uint64_t i = 0; i < kept.header.vector_length && received > 0 && n < kMaxOutputs - 4; i++) {
    const Part& part = kept.parts[i];
    const std::uint64_t bytes = part.bytes < received ? part.bytes : received;
    if (bytes != 0) message_outputs[n++] = {part.base, bytes};
    received -= bytes;
  }
  return n;
}

// The outputs of a message that could not be stored in full; how much the kernel stored is unknown.
std::uint32_t gather_failed(const Kept& kept, std::uint32_t n) {
  const MessageHeader& header = kept.header;
  const auto add = [&n](std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t there = bytes_writable(address, bytes);
    if (address != 0 && there != 0 && n < kMaxOutputs - 4) message_outputs[n++] = {address, there};
  };
  if (header.name != 0) add(header.name, static_cast<std::uint64_t>(name_bytes(header, header.name_length)));
  add(header.control, header.control_length);
  for (std::uint64_t i = 0; i < header.vector_length; i++) add(kept.parts[i].base, kept.parts[i].bytes);
  return n;
}

// Waits without the baton until the socket has data. Returns the result of the poll, or an error.
long wait_for_data(const Call& call) {
  struct pollfd wanted = {static_cast<int>(call.args[0]), POLLIN, 0};
  const long args[6] = {reinterpret_cast<long>(&wanted), 1, -1};
  leave_baton();
  const long ready = interruptible_syscall(call, SYS_poll, args);
  return_from_kernel();
  return ready;
}

// True if the call may have to wait for data. False for data with its own queue, which poll does not report, and for
// requests that return without data.
bool waits_for_data(const Call& call, long flags) {
  const bool there = bytes_there(static_cast<std::uint64_t>(call.args[1]), sizeof(MessageHeader)) != 0;
  if (!there || (flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)) != 0 || times_out(call.args[0])) return false;
  if (state().live_threads == 1 && call.row->at.count < 0) return false;
  const long of_file = sys(SYS_fcntl, call.args[0], F_GETFL, 0);
  return !is_error(of_file) && (of_file & O_NONBLOCK) == 0;
}

struct Entry {  // struct mmsghdr
  MessageHeader header;
  std::uint32_t length;
};

void keep_messages(const Call& call) {
  if (call.row->at.count < 0) return keep(static_cast<std::uint64_t>(call.args[1]), kept_of(call, 0));
  const auto* entry = reinterpret_cast<const Entry*>(call.args[1]);
  const long first = entry - reinterpret_cast<const Entry*>(call.logged[1]);
  for (long i = 0; i < call.args[2]; i++) keep(reinterpret_cast<std::uint64_t>(entry + i), kept_of(call, first + i));
}

// A receive that may block and has nested buffers: receives what is available with the baton; if there is nothing,
// waits for data without the baton.
long receive(Call& call) {
  long& flags = call.args[call.row->at.flags];
  const long wanted = flags;
  while (waits_for_data(call, wanted)) {
    const bool whole =
        (wanted & MSG_WAITALL) != 0;  // then it receives as soon as there is data: most of it has usually arrived
    if (!whole) {
      keep_messages(call);
      flags = wanted | MSG_DONTWAIT;
      const long result =
          sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4], call.args[5]);
      flags = wanted;
      if (result != -EAGAIN) return result;
    }
    const long ready = wait_for_data(call);
    if (is_error(ready)) return ready;
    if (whole) break;
  }
  keep_messages(call);
  lend_baton();
  const long result = interruptible_syscall(call, call.number, call.args);
  take_back_baton();
  return result;
}

}  // namespace

long handle_recvmsg(Call& call) {
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  const long result = receive(call);
  std::uint32_t n = 0;
  if (!is_error(result))
    n = gather_message(kept_of(call, 0), static_cast<std::uint64_t>(call.args[1]), static_cast<std::uint64_t>(result),
                       0);
  if (result == -EFAULT) n = gather_failed(kept_of(call, 0), 0);
  log_call(call, result, message_outputs, n);
  return result;
}

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr long kMostMessages = 1024;            // UIO_MAXIOV
constexpr std::uint32_t kOutputsOfMessage = 8;  // besides its vector

// Receives until all entries are filled, or once with MSG_WAITFORONE. The time limit is checked after each message, as
// in the kernel (recvmmsg(2), BUGS).
long receive_many(Call& call, std::int64_t deadline) {
  constexpr long kWaitForOne = 0x10000;
  const long first = call.args[1], wanted = call.args[2];
  long received = 0;
  for (;;) {
    call.args[1] = first + received * static_cast<long>(sizeof(Entry));
    call.args[2] = wanted - received;
    const long result = receive(call);
    if (result <= 0) return received > 0 ? received : result;
    received += result;
    const bool late = deadline != kNoDeadline && monotonic_now() >= deadline;
    if (received >= wanted || late || (call.args[3] & kWaitForOne) != 0) return received;
  }
}

}  // namespace

long handle_recvmmsg(Call& call) {
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  auto* limit = reinterpret_cast<std::int64_t*>(call.args[4]);
  if (limit != nullptr && (limit[0] < 0 || limit[1] < 0 || limit[1] >= kSecond)) return complete(call, -EINVAL);
  const std::int64_t deadline = limit == nullptr ? kNoDeadline : monotonic_now() + limit[0] * kSecond + limit[1];
  call.args[4] = 0;
  if (call.args[2] > kMostMessages) call.args[2] = kMostMessages;  // as in the kernel
  const long result =
      call.args[2] == 0 ? interruptible_syscall(call, call.number, call.args) : receive_many(call, deadline);
  std::uint32_t n = 0;
  if (limit != nullptr && result > 0) {
    const std::int64_t left = deadline - monotonic_now();
    limit[0] = left > 0 ? left / kSecond : 0;
    limit[1] = left > 0 ? left % kSecond : 0;
    message_outputs[n++] = {reinterpret_cast<std::uint64_t>(limit), 2 * sizeof *limit};
  }
  for (long i = 0; i < result; i++) {
    auto* entry = reinterpret_cast<Entry*>(call.logged[1]) + i;
    const Kept& kept = kept_of(call, i);
    if (n + kOutputsOfMessage + kept.header.vector_length > kMaxOutputs) {
      log_outputs_before(message_outputs, n);
      n = 0;
    }
    message_outputs[n++] = {reinterpret_cast<std::uint64_t>(&entry->length), 4};
    n = gather_message(kept, reinterpret_cast<std::uint64_t>(entry), entry->length, n);
  }
  if (result == -EFAULT) n = gather_failed(kept_of(call, 0), n);
  log_call(call, result, message_outputs, n);
  return result;
}

}  // namespace reweave::core
