#include "recorder/core/explored/modelled_transfers.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/descriptor_tables.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/modelled_signals.h"
#include "recorder/core/explored/modelled_time.h"
#include "recorder/core/explored/own_files.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostSpans = 1024;  // UIO_MAXIOV
constexpr const char* kNoPassing = "passing descriptors is not modelled";

struct Message {  // struct user_msghdr
  std::uint64_t name;
  std::int32_t name_bytes;
  std::uint64_t vector, vector_length;
  std::uint64_t control, control_bytes;
  std::uint32_t flags;
};

// A call's memory and flags, however it passes them.
struct Transfer {
  bool writes;
  bool of_socket;
  long flags;                           // MSG_...
  Message* message;                     // or null
  std::uint64_t vector, vector_length;  // 0: one span, which is
  Span single;
};

// A row for each call: where the flags are, and how memory is passed.
enum class Form : std::uint8_t { kSingle, kVector, kMessage };
struct TransferCall {
  long number;
  bool writes, of_socket;
  Form form;
  int flags;  // argument, or -1
};
constexpr TransferCall kTransfers[] = {
    {SYS_read, false, false, Form::kSingle, -1},   {SYS_write, true, false, Form::kSingle, -1},
    {SYS_readv, false, false, Form::kVector, -1},  {SYS_writev, true, false, Form::kVector, -1},
    {SYS_recvfrom, false, true, Form::kSingle, 3}, {SYS_sendto, true, true, Form::kSingle, 3},
    {SYS_recvmsg, false, true, Form::kMessage, 2}, {SYS_sendmsg, true, true, Form::kMessage, 2},
};

bool parse(const Call& call, Transfer& to) {
  for (const TransferCall& row : kTransfers) {
    if (row.number != call.number) continue;
    to = {row.writes, row.of_socket, row.flags < 0 ? 0 : call.logged[row.flags], nullptr, 0, 0, {}};
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
  std::uint64_t value;  // of a counter: what is to be added
};

bool can_read(const void* what) {
  return (ready_bits(*static_cast<const Wanted*>(what)->file) & (EPOLLIN | EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0;
}

bool can_write(const void* what) {
  const auto& wanted = *static_cast<const Wanted*>(what);
  return has_room(*wanted.file, wanted.value);
}

// Reads or writes until there is nothing left to wait for.
long move_bytes(const Transfer& call, ChannelFile& file, const Spans& spans) {
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
    const long n =
        call.writes ? write_channel(file, spans, done) : read_channel(file, spans, (call.flags & MSG_PEEK) != 0);
    if (n > 0) done += static_cast<std::uint64_t>(n);
    if (n > 0) wake_satisfied();
    const bool goes_on = n == -EAGAIN || (n > 0 && call.writes && done < wanted);
    if (!goes_on) return done != 0 ? static_cast<long>(done) : n;
    if (!waits) return done != 0 ? static_cast<long>(done) : -EAGAIN;
    const WaitResult waited = n == -EAGAIN ? wait_until(awaited, deadline) : WaitResult::kWoken;
    if (waited != WaitResult::kWoken && done != 0) return static_cast<long>(done);
    if (waited != WaitResult::kWoken) return waited == WaitResult::kInterrupted ? -EINTR : -EAGAIN;
  }
}

// What a read wrote: the spans, and what a message says besides.
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
      transfer.message->control_bytes = 0;
      transfer.message->flags = file.in != nullptr && file.in->messages && file.in->cut ? MSG_TRUNC : 0;
      outputs[n++] = {reinterpret_cast<std::uint64_t>(transfer.message), sizeof *transfer.message};
    }
    if (tells_sender(*call.row) && call.logged[5] != 0) {
      *reinterpret_cast<std::int32_t*>(call.logged[5]) = 0;
      outputs[n++] = {static_cast<std::uint64_t>(call.logged[5]), sizeof(std::int32_t)};
    }
  }
  log_call(call, result, outputs, n);
  return result;
}

}  // namespace

void refuse_passed_channels(const Call& call) {
  if ((call.row->flags & (kSendsWhole | kHasMessage)) != (kSendsWhole | kHasMessage)) return;
  struct Control {  // struct cmsghdr
    std::uint64_t bytes;
    std::int32_t level, type;
  };
  const auto& message = *reinterpret_cast<const Message*>(call.logged[1]);
  const std::uint64_t end = message.control + message.control_bytes;
  for (std::uint64_t at = message.control; at != 0 && at + sizeof(Control) <= end;) {
    const auto& control = *reinterpret_cast<const Control*>(at);
    if (control.bytes < sizeof control || control.bytes > end - at) return;
    const auto* numbers = reinterpret_cast<const std::int32_t*>(&control + 1);
    const bool passes = control.level == SOL_SOCKET && control.type == SCM_RIGHTS;
    for (std::uint64_t i = 0; passes && i < (control.bytes - sizeof control) / sizeof *numbers; i++)
      if (const Descriptor* passed = descriptor_at(numbers[i]); passed != nullptr && passed->kind != FileOf::kOutside)
        leave_recording(call, kNoPassing);
    at += round_to(control.bytes, 8);
  }
}

bool transfer(Call& call, ChannelFile& file, long& result) {
  if (call.number == SYS_shutdown) {
    result = shut_down(file, call.logged[1]);
    wake_satisfied();
    return complete(call, result), true;
  }
  Transfer parsed;
  if (!parse(call, parsed)) return false;
  if (parsed.of_socket && file.kind != ChannelKind::kSocket) return result = complete(call, -ENOTSOCK), true;
  if (parsed.message != nullptr && parsed.writes && parsed.message->control_bytes != 0)
    leave_recording(call, kNoPassing);
  if (!parsed.writes && (parsed.flags & MSG_WAITALL) != 0) leave_recording(call, "MSG_WAITALL is not modelled");
  if (parsed.vector_length > kMostSpans) return result = complete(call, -EINVAL), true;
  Span list[kMostSpans];
  Spans spans = {list, 1};
  list[0] = parsed.single;
  if (parsed.vector != 0) {
    spans.count = static_cast<std::uint32_t>(parsed.vector_length);
    memcpy(list, reinterpret_cast<const void*>(parsed.vector), spans.count * sizeof(Span));
  }
  file.references++;  // for as long as the call lasts, whoever closes the descriptor meanwhile
  result = move_bytes(parsed, file, spans);
  if (result == -EPIPE && (parsed.flags & MSG_NOSIGNAL) == 0) send_modelled_to_self(SIGPIPE);
  log_transfer(call, parsed, file, spans, result);
  drop_reference(file);
  return true;
}

}  // namespace reweave::core
