// Receiving messages: names, control data and vectors, one or many.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
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

Output message_outputs[kMaxOutputs];

// The room for the sender's name in the message at `address`, before it is received: then the name's own length, which
// may be more, is in its place. No more than the largest name has.
std::uint8_t name_room(std::uint64_t address) {
  constexpr std::int32_t kMost = 128;  // struct sockaddr_storage
  if (bytes_there(address, sizeof(MessageHeader)) < sizeof(MessageHeader)) return 0;
  const std::int32_t room = reinterpret_cast<const MessageHeader*>(address)->name_length;
  return static_cast<std::uint8_t>(room < 0 ? 0 : room < kMost ? room : kMost);
}

// Descriptors that came with a message (unix(7)).
void note_descriptors(const MessageHeader& message) {
  struct Control {  // struct cmsghdr
    std::uint64_t bytes;
    std::int32_t level, type;
  };
  constexpr std::int32_t kSocketLevel = 1, kRights = 1, kPidfd = 4;  // SOL_SOCKET, SCM_RIGHTS, SCM_PIDFD
  std::uint64_t at = message.control;
  const std::uint64_t end = at + message.control_length;
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

std::uint32_t gather_message(const MessageHeader& message, std::uint64_t address, std::uint64_t received, int room,
                             std::uint32_t n) {
  note_descriptors(message);
  message_outputs[n++] = {address, sizeof(MessageHeader)};
  const std::int32_t length = message.name_length < room ? message.name_length : room;
  if (message.name != 0 && length > 0) message_outputs[n++] = {message.name, static_cast<std::uint64_t>(length)};
  if (message.control != 0 && message.control_length > 0)
    message_outputs[n++] = {message.control, message.control_length};
  const auto* vector = reinterpret_cast<const std::uint64_t*>(message.vector);
  for (std::uint64_t i = 0; i < message.vector_length && received > 0 && n < kMaxOutputs - 4; i++) {
    const std::uint64_t bytes = vector[2 * i + 1] < received ? vector[2 * i + 1] : received;
    if (bytes != 0) message_outputs[n++] = {vector[2 * i], bytes};
    received -= bytes;
  }
  return n;
}

// Off the baton.
long wait_for_data(const Call& call) {
  struct pollfd wanted = {static_cast<int>(call.args[0]), POLLIN, 0};
  const long args[6] = {reinterpret_cast<long>(&wanted), 1, -1};
  leave_baton();
  const long ready = interruptible_syscall(call, SYS_poll, args);
  return_from_kernel();
  return ready;
}

bool waits_for_data(const Call& call, long flags) {
  const bool there = bytes_there(static_cast<std::uint64_t>(call.args[1]), sizeof(MessageHeader)) != 0;
  if (!there || (flags & MSG_DONTWAIT) != 0) return false;
  if (state().live_threads == 1 && call.number != SYS_recvmmsg) return false;
  const long of_file = sys(SYS_fcntl, call.args[0], F_GETFL, 0);
  return !is_error(of_file) && (of_file & O_NONBLOCK) == 0;
}

// A receive that may block and has nested buffers: waits for data off the baton, then takes it with the baton.
long receive(Call& call) {
  long& flags = call.args[call.number == SYS_recvmsg ? 2 : 3];
  const long wanted = flags;
  while (waits_for_data(call, wanted)) {
    const long ready = wait_for_data(call);
    if (is_error(ready)) return ready;
    if ((wanted & MSG_WAITALL) != 0) break;  // there is something: mostly all of it
    flags = wanted | MSG_DONTWAIT;
    const long result =
        sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4], call.args[5]);
    flags = wanted;
    if (result != -EAGAIN) return result;  // otherwise another thread took it
  }
  lend_baton();
  const long result = interruptible_syscall(call, call.number, call.args);
  take_back_baton();
  return result;
}

}  // namespace

long handle_recvmsg(Call& call) {
  if (!live()) return answered_call(call);
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  const auto address = static_cast<std::uint64_t>(call.args[1]);
  const std::uint8_t room = name_room(address);
  const long result = receive(call);
  std::uint32_t n = 0;
  if (!is_error(result))
    n = gather_message(*reinterpret_cast<const MessageHeader*>(address), address, static_cast<std::uint64_t>(result),
                       room, 0);
  log_call(call, result, message_outputs, n);
  return result;
}

namespace {

struct Entry {  // struct mmsghdr
  MessageHeader header;
  std::uint32_t length;
};

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr long kMostMessages = 1024;            // UIO_MAXIOV
constexpr std::uint32_t kOutputsOfMessage = 8;  // besides its vector

// Receives until all entries are filled, without MSG_WAITFORONE; the time limit is looked at after each message, as
// the kernel does (recvmmsg(2), BUGS).
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
  if (!live()) return answered_call(call);
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  auto* limit = reinterpret_cast<std::int64_t*>(call.args[4]);
  if (limit != nullptr && (limit[0] < 0 || limit[1] < 0 || limit[1] >= kSecond)) return complete(call, -EINVAL);
  const std::int64_t deadline = limit == nullptr ? kNoDeadline : monotonic_now() + limit[0] * kSecond + limit[1];
  call.args[4] = 0;
  if (call.args[2] > kMostMessages) call.args[2] = kMostMessages;  // as the kernel does
  std::uint8_t rooms[kMostMessages];
  for (long i = 0; i < call.args[2]; i++)
    rooms[i] = name_room(static_cast<std::uint64_t>(call.args[1] + i * static_cast<long>(sizeof(Entry))));
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
    if (n + kOutputsOfMessage + entry->header.vector_length > kMaxOutputs) {
      log_outputs_before(message_outputs, n);
      n = 0;
    }
    message_outputs[n++] = {reinterpret_cast<std::uint64_t>(&entry->length), 4};
    n = gather_message(entry->header, reinterpret_cast<std::uint64_t>(entry), entry->length, rooms[i], n);
  }
  log_call(call, result, message_outputs, n);
  return result;
}

namespace {}  // namespace

// The length that SO_GET_FILTER gets and gives counts filters (socket(7)); none asks how many there are.
long handle_getsockopt(Call& call) {
  constexpr long kGetFilter = 26;
  constexpr std::uint64_t kFilterBytes = 8;  // struct sock_filter
  const bool filters = live() && !is_our_fd(call.args[0]) && call.args[1] == SOL_SOCKET && call.args[2] == kGetFilter;
  if (!filters) return recorded_call(call);
  const auto& length = *reinterpret_cast<const std::uint32_t*>(call.args[4]);
  const bool asks = length == 0;
  const long result = sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
  const Output outputs[] = {{static_cast<std::uint64_t>(call.args[4]), sizeof length},
                            {static_cast<std::uint64_t>(call.args[3]), length * kFilterBytes}};
  log_call(call, result, outputs, is_error(result) ? 0 : asks ? 1 : 2);
  return result;
}

long handle_setsockopt(Call& call) {
  constexpr long kLimits[] = {20, 21, 66, 67};  // SO_RCVTIMEO, SO_SNDTIMEO, and with 64 bits
  const long result = recorded_call(call);
  for (long limit : kLimits)
    if (result == 0 && call.args[1] == SOL_SOCKET && call.args[2] == limit) {
      const auto* time = reinterpret_cast<const std::int64_t*>(call.args[3]);
      set_times_out(call.args[0], time[0] != 0 || time[1] != 0);
    }
  return result;
}

}  // namespace reweave::core
