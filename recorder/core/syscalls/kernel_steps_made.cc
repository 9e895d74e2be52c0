// Calls that create descriptors, or change what one refers to.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "recorder/core/syscalls/kernel_step_handlers.h"
#include "recorder/core/syscalls/kernel_step_notes.h"
#include "recorder/core/syscalls/outputs.h"

namespace reweave::core {

namespace {

// Hash of the text at the address (FNV-1a), up to its end or the end of readable memory.
std::uint64_t hash_of_name(long address) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (auto at = static_cast<std::uint64_t>(address); is_there(at, 1); at++) {
    const auto letter = *reinterpret_cast<const unsigned char*>(at);
    if (letter == 0) break;
    hash = (hash ^ letter) * 0x100000001b3;
  }
  return hash;
}

void note_opens(const Call& call, int name) { note(call, KernelStep::kOpens, 0, hash_of_name(call.logged[name])); }

void note_opened(const Call& call, long result, int name) {
  note(call, KernelStep::kOpened, result, hash_of_name(call.logged[name]));
}

void note_pair(const Call& call, KernelStep step, int argument) {
  const auto* fds = reinterpret_cast<const int*>(call.logged[argument]);
  note(call, step, fds[0], descriptor(fds[1]));
}

void note_fifo(const Call& call, int name, int mode) {
  if ((call.logged[mode] & S_IFMT) == S_IFIFO) note(call, KernelStep::kMadeFifo, 0, hash_of_name(call.logged[name]));
}

}  // namespace

void before_open(const Call& call) { note_opens(call, 0); }
void before_openat(const Call& call) { note_opens(call, 1); }
void after_open(const Call& call, long result) { note_opened(call, result, 0); }
void after_openat(const Call& call, long result) { note_opened(call, result, 1); }

void after_pipe(const Call& call, long) { note_pair(call, KernelStep::kMadePipe, 0); }
void after_socketpair(const Call& call, long) { note_pair(call, KernelStep::kMadePair, 3); }
void after_counter(const Call& call, long result) { note(call, KernelStep::kMadeCounter, result); }
void after_signalfd(const Call& call, long result) { note(call, KernelStep::kMadeSignals, result); }

void after_accept(const Call& call, long result) {
  note(call, KernelStep::kAccepted, call.logged[0], descriptor(result));
}

void after_mq_open(const Call& call, long result) {
  note(call, KernelStep::kMadeQueue, result, hash_of_name(call.logged[0]));
}

void after_mknod(const Call& call, long) { note_fifo(call, 0, 1); }
void after_mknodat(const Call& call, long) { note_fifo(call, 1, 2); }

void after_socket(const Call& call, long result) {
  constexpr long kTypes = 0xf;  // of socket(2), without flags
  const long type = call.logged[1] & kTypes;
  const bool stream = type == SOCK_STREAM || type == SOCK_SEQPACKET;
  note(call, KernelStep::kMadeSocket, result, wire::socket_kind(call.logged[0] == AF_UNIX, stream));
}

void after_epoll_ctl(const Call& call, long) {
  const auto both = static_cast<long>(descriptor(call.logged[0]) | descriptor(call.logged[2]) << wire::kWatchedShift);
  const auto event = static_cast<std::uint64_t>(call.logged[3]);
  if (call.logged[1] == EPOLL_CTL_DEL) return note(call, KernelStep::kWatchesNoMore, both);
  if (is_there(event, sizeof(epoll_event)))
    note(call, KernelStep::kWatches, both, reinterpret_cast<const epoll_event*>(event)->data.u64);
}

void after_dup(const Call& call, long result) {
  note(call, KernelStep::kDuplicated, static_cast<long>(descriptor(call.logged[0])), descriptor(result));
}

}  // namespace reweave::core
