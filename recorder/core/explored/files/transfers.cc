#include "recorder/core/explored/files/transfers.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/files/passed_files.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/syscalls/explored_handlers.h"
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

// A call's memory and flags, in whichever way it passes them.
struct Transfer {
  bool writes;
  bool of_socket;
  long flags;                           // MSG_...
  Message* message;                     // or null
  std::uint64_t vector, vector_length;  // 0: one span, which is `single`
  Span single;
  PassedFiles* sends;     // descriptors to be sent, or null
  PassedFiles* receives;  // descriptors received, or null
};

// A row for each call: where its flags are, and how it passes memory.
enum class Form : std::uint8_t { kSingle, kVector, kMessage };
struct TransferCall {
  long number;
  bool writes, of_socket;
  Form form;
  int flags;  // argument, or -1
};
constexpr TransferCall kTransfers[] = {
    {SYS_read, false, false, Form::kSingle, -1},    {SYS_write, true, false, Form::kSingle, -1},
    {SYS_readv, false, false, Form::kVector, -1},   {SYS_writev, true, false, Form::kVector, -1},
    {SYS_recvfrom, false, true, Form::kSingle, 3},  {SYS_sendto, true, true, Form::kSingle, 3},
    {SYS_recvmsg, false, true, Form::kMessage, 2},  {SYS_sendmsg, true, true, Form::kMessage, 2},
    {SYS_vmsplice, true, false, Form::kVector, -1},
};

bool parse(const Call& call, Transfer& to) {
  for (const TransferCall& row : kTransfers) {
    if (row.number != call.number) continue;
    to = {row.writes, row.of_socket, row.flags < 0 ? 0 : call.logged[row.flags], nullptr, 0, 0, {}, nullptr, nullptr};
    if (row.form == Form::kSingle)
      to.single = {reinterpret_cast<std::byte*>(call.logged[1]), static_cast<std::uint64_t>(call.logged[2])};
    if (row.form == Form::kVector)
      to.vector = static_cast<std::uint64_t>(call.logged[1]),
      to.vector_length = static_cast<std::uint64_t>(call.logged[2]);
    if (row.form == Form::kMessage) {
      to.message = reinterpret_cast<Message*>(call.logged[1]);
      to.vector = to.message->vector;
      to.vector_length = to.message->vector_length;
    }
    return true;
  }
  return false;
}

struct Wanted {
  const ChannelFile* file;
  std::uint64_t value;  // of a counter: the value to be added
};

bool can_read(const void* what) {
  return (ready_bits(*static_cast<const Wanted*>(what)->file) & (EPOLLIN | EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0;
}

bool can_write(const void* what) {
  const auto& wanted = *static_cast<const Wanted*>(what);
  return has_room(*wanted.file, wanted.value);
}

// The first `bytes` bytes of `spans`.
Spans cut(const Spans& spans, std::uint64_t bytes, Span* storage) {
  if (spans.bytes() <= bytes) return spans;
  std::uint32_t n = 0;
  for (; bytes > 0; n++) {
    storage[n] = {spans.list[n].data, spans.list[n].bytes < bytes ? spans.list[n].bytes : bytes};
    bytes -= storage[n].bytes;
  }
  return {storage, n};
}

// Reads what one call can read, with the descriptors received with it.
long read_some(Transfer& call, ChannelFile& file, const Spans& spans) {
  static Span storage[kMostSpans];
  const bool peeks = (call.flags & MSG_PEEK) != 0;
  if (file.kind != ChannelKind::kSocket) return read_channel(file, spans, peeks);
  const std::uint64_t at = file.in->tail;
  PassedFiles* passed = passed_files_at(*file.in, at);
  const std::uint64_t most = file.in->messages ? ~std::uint64_t{0} : bytes_to_next_passed(*file.in, at);
  const long n = read_channel(file, cut(spans, most, storage), peeks);
  if (n > 0 && !peeks) call.receives = passed;
  return n;
}

// The first bytes of a message are in the queue: attaches the descriptors that it passes.
void pass_files(Transfer& call, const ByteQueue& queue, long bytes) {
  constexpr std::uint64_t kLengthBytes = 4;  // of a message in a queue of messages (channels.cc)
  if (call.sends == nullptr) return;
  call.sends->queue = &queue;
  call.sends->at = queue.head - static_cast<std::uint64_t>(bytes) - (queue.messages ? kLengthBytes : 0);
  call.sends = nullptr;
}

// Reads or writes until it need not wait any more.
long move_bytes(Transfer& call, ChannelFile& file, const Spans& spans) {
  const bool waits = !file.nonblocking && (call.flags & MSG_DONTWAIT) == 0;
  const std::uint64_t wanted = spans.bytes();
  Wanted room = {&file, wanted};
  if (file.kind == ChannelKind::kCounter && call.writes && wanted >= sizeof room.value)
    memcpy(&room.value, spans.list[0].data, sizeof room.value);
  const Awaited awaited = {&room, sizeof room, call.writes ? can_write : can_read, nullptr, false};
  const std::int64_t limit = file.limits[call.writes ? 1 : 0];
  const std::int64_t deadline = limit == 0 ? kNoDeadline : modelled_end(limit);
  std::uint64_t done = 0;
  for (;;) {
    const long n = call.writes ? write_channel(file, spans, done) : read_some(call, file, spans);
    if (n > 0 && call.writes && file.out != nullptr) pass_files(call, *file.out, n);
    if (n > 0) done += static_cast<std::uint64_t>(n);
    if (n > 0) wake_satisfied();
    const bool must_repeat = n == -EAGAIN || (n > 0 && call.writes && done < wanted);
    if (!must_repeat) return done != 0 ? static_cast<long>(done) : n;
    if (!waits) return done != 0 ? static_cast<long>(done) : -EAGAIN;
    const WaitResult waited = n == -EAGAIN ? wait_until(awaited, deadline) : WaitResult::kWoken;
    if (waited != WaitResult::kWoken && done != 0) return static_cast<long>(done);
    if (waited != WaitResult::kWoken) return waited == WaitResult::kInterrupted ? -EINTR : -EAGAIN;
  }
}

struct Control {  // struct cmsghdr
  std::uint64_t bytes;
  std::int32_t level, type;
};

// Calls use(number) for the descriptors that the message passes. False: it contains other control data.
template <typename Use>
bool for_each_passed(const Message& message, const Use& use) {
  const std::uint64_t end = message.control + message.control_bytes;
  for (std::uint64_t at = message.control; at != 0 && at + sizeof(Control) <= end;) {
    const auto& control = *reinterpret_cast<const Control*>(at);
    if (control.bytes < sizeof control || control.bytes > end - at) return false;
    if (control.level != SOL_SOCKET || control.type != SCM_RIGHTS) return false;
    const auto* numbers = reinterpret_cast<const std::int32_t*>(&control + 1);
    for (std::uint64_t i = 0; i < (control.bytes - sizeof control) / sizeof *numbers; i++) use(numbers[i]);
    at += round_to(control.bytes, 8);
  }
  return true;
}

// Takes the descriptors of a message to be sent: 0, or the error.
long take_files(const Call& call, Transfer& transfer) {
  PassedFiles* files = new_passed_files();
  if (files == nullptr) leave_recording(call, "too many descriptors are in messages that nobody has received yet");
  long error = 0;
  const bool known = for_each_passed(*transfer.message, [&](std::int32_t number) {
    const Descriptor* at = descriptor_at(number);
    if (at == nullptr || at->kind == FileOf::kClosed) error = -EBADF;
    if (files->count == kMostPassed) error = -EINVAL;
    if (error != 0) return;
    Descriptor& passed = files->files[files->count++] = *at;
    passed.closes_on_exec = false;
    if (passed.kind == FileOf::kOutside) passed.opened = file_of(*at, number) + 1;
    if (passed.kind == FileOf::kOutside && passed.opened == 0) leave_recording(call, "it passes an unknown descriptor");
  });
  if (!known) leave_recording(call, "control data other than descriptors is not modelled");
  for (std::uint32_t i = 0; i < files->count && error == 0; i++) add_reference(files->files[i]);
  if (error == 0 && files->count != 0) transfer.sends = files;
  return error;
}

// Gives the receiver new numbers for the descriptors of a message, as many as fit.
std::uint32_t give_files(const Transfer& transfer, Output* outputs, std::uint32_t n) {
  Message& message = *transfer.message;
  const std::uint64_t room = message.control == 0 ? 0 : message.control_bytes;
  message.control_bytes = 0;
  if (transfer.receives == nullptr) return n;
  PassedFiles& files = *transfer.receives;
  auto* control = reinterpret_cast<Control*>(message.control);
  auto* numbers = reinterpret_cast<std::int32_t*>(control + 1);
  const bool closes = (transfer.flags & MSG_CMSG_CLOEXEC) != 0;
  std::uint32_t given = 0;
  for (; given < files.count && sizeof *control + (given + 1) * sizeof *numbers <= room; given++) {
    const long fd = unused_number(0);
    if (is_error(fd)) break;
    occupy(fd, files.files[given], closes);
    numbers[given] = static_cast<std::int32_t>(fd);
  }
  if (given < files.count) message.flags |= MSG_CTRUNC;
  if (given != 0) {
    *control = {sizeof *control + given * sizeof *numbers, SOL_SOCKET, SCM_RIGHTS};
    const std::uint64_t bytes = round_to(control->bytes, 8);
    message.control_bytes = bytes < room ? bytes : room;
    outputs[n++] = {message.control, control->bytes};
  }
  for (std::uint32_t i = given; i < files.count; i++) drop_reference(files.files[i]);
  files.count = 0;
  files.queue = nullptr;
  return n;
}

// Logs what a read wrote: the spans, and the message's other parts.
long log_transfer(Call& call, const Transfer& transfer, const ChannelFile& file, const Spans& spans, long result) {
  static Output outputs[kMaxOutputs];
  std::uint32_t n = 0;
  if (!transfer.writes && !is_error(result)) {
    auto left = static_cast<std::uint64_t>(result);
    for (std::uint32_t i = 0; i < spans.count && left > 0; i++) {
      const std::uint64_t bytes = spans.list[i].bytes < left ? spans.list[i].bytes : left;
      if (bytes != 0) outputs[n++] = {reinterpret_cast<std::uint64_t>(spans.list[i].data), bytes};
      left -= bytes;
    }
    if (transfer.message != nullptr) {
      transfer.message->name_bytes = 0;
      transfer.message->flags = file.in != nullptr && file.in->messages && file.in->cut ? MSG_TRUNC : 0;
      n = give_files(transfer, outputs, n);
      outputs[n++] = {reinterpret_cast<std::uint64_t>(transfer.message), sizeof *transfer.message};
    }
    if (asks_for_sender(*call.row, call.logged)) {
      *reinterpret_cast<std::int32_t*>(call.logged[5]) = 0;
      outputs[n++] = {static_cast<std::uint64_t>(call.logged[5]), sizeof(std::int32_t)};
    }
  }
  log_call(call, result, outputs, n);
  return result;
}

}  // namespace

long wait_for_channel(ChannelFile& file, bool writes, bool waits) {
  const Wanted wanted = {&file, 0};
  const auto holds = writes ? can_write : can_read;
  if (file.kind == ChannelKind::kCounter || (writes ? file.out : file.in) == nullptr) return -EBADF;
  if (holds(&wanted)) return 0;
  if (!waits) return -EAGAIN;
  return wait_until({&wanted, sizeof wanted, holds, nullptr, false}, kNoDeadline) == WaitResult::kInterrupted ? -EINTR
                                                                                                              : 0;
}

bool explore_vmsplice(Call& call, long& result) {
  const Descriptor* at = descriptor_at(call.logged[0]);
  return at != nullptr && at->kind == FileOf::kChannel && transfer(call, *at->channel, result);
}

void refuse_passed_channels(const Call& call) {
  if ((call.row->flags & (kSendsWhole | kHasMessage)) != (kSendsWhole | kHasMessage)) return;
  const auto& message = *reinterpret_cast<const Message*>(call.logged[1]);
  for_each_passed(message, [&call](std::int32_t number) {
    const Descriptor* passed = descriptor_at(number);
    if (passed != nullptr && passed->kind != FileOf::kOutside)
      leave_recording(call, "it sends a descriptor of the run to a process outside of the run");
  });
}

bool transfer(Call& call, ChannelFile& file, long& result) {
  if (call.number == SYS_shutdown) {
    result = shut_down(file, call.logged[1]);
    wake_satisfied();
    return complete(call, result), true;
  }
  Transfer parsed;
  if (!parse(call, parsed)) return false;
  if ((call.row->flags & kFirstIsFd) == 0) parsed.writes = file.out != nullptr;  // vmsplice, on either end
  if (parsed.of_socket && file.kind != ChannelKind::kSocket) return result = complete(call, -ENOTSOCK), true;
  if (parsed.message != nullptr && parsed.writes && parsed.message->control_bytes != 0)
    if (const long error = take_files(call, parsed); error != 0) return result = complete(call, error), true;
  if (!parsed.writes && (parsed.flags & MSG_WAITALL) != 0) leave_recording(call, "MSG_WAITALL is not modelled");
  if (parsed.vector_length > kMostSpans) return result = complete(call, -EINVAL), true;
  Span list[kMostSpans];
  Spans spans = {list, 1};
  list[0] = parsed.single;
  if (parsed.vector != 0) {
    spans.count = static_cast<std::uint32_t>(parsed.vector_length);
    memcpy(list, reinterpret_cast<const void*>(parsed.vector), spans.count * sizeof(Span));
  }
  file.references++;  // keeps the file while the call lasts, even if the descriptor is closed meanwhile
  result = move_bytes(parsed, file, spans);
  if (result == -EPIPE && (parsed.flags & MSG_NOSIGNAL) == 0) send_modelled_to_self(SIGPIPE);
  if (parsed.sends != nullptr) drop_passed_files(*parsed.sends);  // nothing was sent
  if (parsed.receives != nullptr && parsed.message == nullptr) drop_passed_files(*parsed.receives);
  log_transfer(call, parsed, file, spans, result);
  drop_reference(file);
  return true;
}

}  // namespace reweave::core
