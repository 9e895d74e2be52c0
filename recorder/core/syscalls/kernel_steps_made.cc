// Calls that make descriptors, or make one mean something else.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/syscalls/kernel_step_notes.h"
#include "recorder/core/syscalls/outputs.h"

namespace reweave::core {

namespace {

// Of the text at the address (FNV-1a). One that ends where memory does is hashed as far as it goes.
std::uint64_t hash_of_name(long address) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (auto at = static_cast<std::uint64_t>(address); is_there(at, 1); at++) {
    const auto letter = *reinterpret_cast<const unsigned char*>(at);
    if (letter == 0) break;
    hash = (hash ^ letter) * 0x100000001b3;
  }
  return hash;
}

// Which argument is the name of what a call opens; -1: it opens nothing.
int name_argument(long number) {
  if (number == SYS_open || number == SYS_creat) return 0;
  return number == SYS_openat || number == SYS_openat2 ? 1 : -1;
}

void note_pair(const Call& call, KernelStep step, int argument) {
  const auto* fds = reinterpret_cast<const int*>(call.logged[argument]);
  note(call, step, fds[0], descriptor(fds[1]));
}

void note_socket_made(const Call& call, long result) {
  constexpr long kTypes = 0xf;  // of socket(2), without flags
  const long type = call.logged[1] & kTypes;
  const bool stream = type == SOCK_STREAM || type == SOCK_SEQPACKET;
  note(call, KernelStep::kMadeSocket, result, wire::socket_kind(call.logged[0] == AF_UNIX, stream));
}

void note_fifo(const Call& call, int name, int mode) {
  if ((call.logged[mode] & S_IFMT) == S_IFIFO) note(call, KernelStep::kMadeFifo, 0, hash_of_name(call.logged[name]));
}

void note_watch(const Call& call) {
  const auto both = static_cast<long>(descriptor(call.logged[0]) | descriptor(call.logged[2]) << wire::kWatchedShift);
  const auto event = static_cast<std::uint64_t>(call.logged[3]);
  if (call.logged[1] == EPOLL_CTL_DEL) return note(call, KernelStep::kWatchesNoMore, both);
  if (is_there(event, sizeof(epoll_event)))
    note(call, KernelStep::kWatches, both, reinterpret_cast<const epoll_event*>(event)->data.u64);
}

void note_duplicated(const Call& call, long result) {
  note(call, KernelStep::kDuplicated, static_cast<long>(descriptor(call.logged[0])), descriptor(result));
}

}  // namespace

void note_opens(const Call& call) {
  const int name = name_argument(call.number);
  if (name >= 0) note(call, KernelStep::kOpens, 0, hash_of_name(call.logged[name]));
}

void note_made(const Call& call, long result) {
  if (const int name = name_argument(call.number); name >= 0)
    return note(call, KernelStep::kOpened, result, hash_of_name(call.logged[name]));
  switch (call.number) {
    case SYS_pipe:
    case SYS_pipe2:
      return note_pair(call, KernelStep::kMadePipe, 0);
    case SYS_socketpair:
      return note_pair(call, KernelStep::kMadePair, 3);
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_timerfd_create:
      return note(call, KernelStep::kMadeCounter, result);
    case SYS_socket:
      return note_socket_made(call, result);
    case SYS_accept:
    case SYS_accept4:
      return note(call, KernelStep::kAccepted, call.logged[0], descriptor(result));
    case SYS_signalfd:
    case SYS_signalfd4:
      return note(call, KernelStep::kMadeSignals, result);
    case SYS_mq_open:
      return note(call, KernelStep::kMadeQueue, result, hash_of_name(call.logged[0]));
    case SYS_mknod:
      return note_fifo(call, 0, 1);
    case SYS_mknodat:
      return note_fifo(call, 1, 2);
    case SYS_epoll_ctl:
      return note_watch(call);
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
      return note_duplicated(call, result);
    case SYS_fcntl:
      if (call.logged[1] == F_DUPFD || call.logged[1] == F_DUPFD_CLOEXEC) note_duplicated(call, result);
      return;
    default:
      return;
  }
}

}  // namespace reweave::core
