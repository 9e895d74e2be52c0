#include "recorder/core/syscalls/kernel_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/base/context.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

using wire::KernelPlace;
using wire::KernelStep;

void note_step(std::uint64_t pc, KernelStep step, std::uint64_t address, std::uint64_t extra = 0) {
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(wire::kKernelStepKind, static_cast<std::uint8_t>(step), address & 0xffffffffffff, true);
  words[1] = wire::pack_word1(pc, self().id);
  words[2] = extra;
  publish_out(24);
}

void note(const Call& call, KernelStep step, long address, long extra = 0) {
  note_step(call.context.registers.rip, step, static_cast<std::uint64_t>(address), static_cast<std::uint64_t>(extra));
}

void note(const Call& call, KernelStep step, KernelPlace place) { note(call, step, static_cast<long>(place)); }

// By call: the argument that is the descriptor of a gift or receipt.
struct DescriptorRow {
  long number;
  int argument;
};
constexpr DescriptorRow kGiving[] = {{SYS_write, 0},    {SYS_writev, 0},   {SYS_sendto, 0},   {SYS_sendmsg, 0},
                                     {SYS_sendmmsg, 0}, {SYS_sendfile, 0}, {SYS_vmsplice, 0}, {SYS_splice, 2},
                                     {SYS_tee, 1},      {SYS_shutdown, 0}, {SYS_connect, 0}};
constexpr DescriptorRow kGetting[] = {{SYS_read, 0},     {SYS_readv, 0},  {SYS_recvfrom, 0}, {SYS_recvmsg, 0},
                                      {SYS_recvmmsg, 0}, {SYS_accept, 0}, {SYS_accept4, 0},  {SYS_sendfile, 1},
                                      {SYS_splice, 0},   {SYS_tee, 0},    {SYS_ioctl, 0}};

struct PlaceRow {
  long number;
  KernelPlace place;
};
constexpr PlaceRow kGivingTo[] = {
    {SYS_kill, KernelPlace::kTasks},          {SYS_tkill, KernelPlace::kTasks},
    {SYS_tgkill, KernelPlace::kTasks},        {SYS_rt_sigqueueinfo, KernelPlace::kTasks},
    {SYS_exit, KernelPlace::kTasks},          {SYS_rt_tgsigqueueinfo, KernelPlace::kTasks},
    {SYS_exit_group, KernelPlace::kTasks},    {SYS_pidfd_send_signal, KernelPlace::kTasks},
    {SYS_timer_settime, KernelPlace::kTasks}, {SYS_setitimer, KernelPlace::kTasks},
    {SYS_alarm, KernelPlace::kTasks},         {SYS_mq_timedsend, KernelPlace::kQueues},
    {SYS_msgsnd, KernelPlace::kQueues},       {SYS_semop, KernelPlace::kQueues},
    {SYS_semtimedop, KernelPlace::kQueues},   {SYS_semctl, KernelPlace::kQueues}};
constexpr PlaceRow kGettingFrom[] = {{SYS_wait4, KernelPlace::kTasks},
                                     {SYS_waitid, KernelPlace::kTasks},
                                     {SYS_rt_sigtimedwait, KernelPlace::kTasks},
                                     {SYS_rt_sigpending, KernelPlace::kTasks},
                                     {SYS_mq_timedreceive, KernelPlace::kQueues},
                                     {SYS_msgrcv, KernelPlace::kQueues},
                                     {SYS_semop, KernelPlace::kQueues},
                                     {SYS_semtimedop, KernelPlace::kQueues},
                                     {SYS_semctl, KernelPlace::kQueues},
                                     {SYS_flock, KernelPlace::kFileLocks}};

// Calls whose result says that descriptors are ready.
constexpr long kPolling[] = {SYS_poll,       SYS_ppoll,       SYS_select,      SYS_pselect6,
                             SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2};

template <typename Row, typename Use>
void each_row(const Row& rows, long number, const Use& use) {
  for (const auto& row : rows)
    if (row.number == number) use(row);
}

// Visits the descriptors in the control data of the message at `header`.
template <typename Use>
void each_descriptor(std::uint64_t header, const Use& use) {
  if (bytes_there(header, sizeof(msghdr)) != sizeof(msghdr)) return;
  const auto& message = *reinterpret_cast<const msghdr*>(header);
  const auto control = reinterpret_cast<std::uint64_t>(message.msg_control);
  if (control == 0 || bytes_there(control, message.msg_controllen) != message.msg_controllen) return;
  for (std::uint64_t at = 0; at + sizeof(cmsghdr) <= message.msg_controllen;) {
    const auto& part = *reinterpret_cast<const cmsghdr*>(control + at);
    if (part.cmsg_len < sizeof(cmsghdr) || part.cmsg_len > message.msg_controllen - at) return;
    if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_RIGHTS) {
      for (std::uint64_t fd = sizeof(cmsghdr); fd + sizeof(int) <= part.cmsg_len; fd += sizeof(int))
        use(*reinterpret_cast<const int*>(control + at + fd));
    }
    at += (part.cmsg_len + 7) & ~std::uint64_t{7};
  }
}

// Likewise of the messages of a call that sends or receives: `count` of them, if it has many.
void note_descriptors(const Call& call, KernelStep step, long count) {
  const auto use = [&](int fd) { note(call, step, call.logged[0], fd); };
  const auto first = static_cast<std::uint64_t>(call.logged[1]);
  if (call.number == SYS_sendmsg || call.number == SYS_recvmsg) return each_descriptor(first, use);
  if (call.number != SYS_sendmmsg && call.number != SYS_recvmmsg) return;
  constexpr long kMostMessages = 1024;  // UIO_MAXIOV
  for (long i = 0; i < count && i < kMostMessages; i++)
    each_descriptor(first + static_cast<std::uint64_t>(i) * sizeof(mmsghdr), use);
}

int futex_operation(const Call& call) { return static_cast<int>(call.logged[1]) & FUTEX_CMD_MASK; }

void note_futex(const Call& call, KernelStep step, int argument) {
  const auto address = static_cast<std::uint64_t>(call.logged[argument]);
  if (region_at(address) != nullptr) note(call, step, static_cast<long>(object_key(address)));
}

// A futex that is waked, or whose waiters go to another.
void wake_futex(const Call& call) {
  const int operation = futex_operation(call);
  const bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
  if (waits) return;
  note_futex(call, KernelStep::kGives, 0);
  const bool two = operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE || operation == FUTEX_WAKE_OP ||
                   operation == FUTEX_CMP_REQUEUE_PI;
  if (two) note_futex(call, KernelStep::kGives, 4);
}

// Woken, or told that the value had changed. Whose waiters were moved is woken by either.
void wait_for_futex(const Call& call, long result) {
  if (result != 0 && result != -EAGAIN) return;
  const int operation = futex_operation(call);
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) return;
  note_futex(call, KernelStep::kTakes, 0);
  if (operation == FUTEX_WAIT_REQUEUE_PI) note_futex(call, KernelStep::kTakes, 4);
}

bool locks_file(const Call& call) {
  const long command = call.logged[1];
  return call.number == SYS_fcntl &&
         (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW);
}

void note_pair(const Call& call, KernelStep step, int argument) {
  const auto* fds = reinterpret_cast<const int*>(call.logged[argument]);
  note(call, step, fds[0], fds[1]);
}

// The descriptors that a call made, or made to mean something else.
void note_made(const Call& call, long result) {
  switch (call.number) {
    case SYS_pipe:
    case SYS_pipe2:
      return note_pair(call, KernelStep::kMadePipe, 0);
    case SYS_socketpair:
      return note_pair(call, KernelStep::kMadePair, 3);
    case SYS_eventfd:
    case SYS_eventfd2:
      return note(call, KernelStep::kMadeCounter, result);
    case SYS_socket:
    case SYS_accept:
    case SYS_accept4:
      return note(call, KernelStep::kMadeSocket, result);
    case SYS_signalfd:
    case SYS_signalfd4:
      return note(call, KernelStep::kMadeSignals, result);
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
      return note(call, KernelStep::kDuplicated, call.logged[0], result);
    case SYS_fcntl:
      if (call.logged[1] == F_DUPFD || call.logged[1] == F_DUPFD_CLOEXEC)
        note(call, KernelStep::kDuplicated, call.logged[0], result);
      return;
    default:
      return;
  }
}

}  // namespace

void trace_gifts(const Call& call) {
  each_row(kGiving, call.number,
           [&](const DescriptorRow& row) { note(call, KernelStep::kSends, call.logged[row.argument]); });
  each_row(kGivingTo, call.number, [&](const PlaceRow& row) { note(call, KernelStep::kGives, row.place); });
  if (call.number == SYS_sendmsg || call.number == SYS_sendmmsg)
    note_descriptors(call, KernelStep::kPasses, call.logged[2]);
  if (call.number == SYS_futex) wake_futex(call);
  if (call.number == SYS_flock && (call.logged[1] & LOCK_UN) != 0)
    note(call, KernelStep::kGives, KernelPlace::kFileLocks);
  if (locks_file(call)) note(call, KernelStep::kGives, KernelPlace::kFileLocks);  // may be a release
  if (call.number == SYS_close) note(call, KernelStep::kClosed, call.logged[0], call.logged[0]);
  if (call.number == SYS_close_range && (call.logged[2] & CLOSE_RANGE_CLOEXEC) == 0)
    note(call, KernelStep::kClosed, call.logged[0], call.logged[1]);
}

void trace_receipts(const Call& call, long result) {
  if (call.number == SYS_futex) return wait_for_futex(call, result);
  if (is_error(result)) return;
  each_row(kGetting, call.number,
           [&](const DescriptorRow& row) { note(call, KernelStep::kReceives, call.logged[row.argument]); });
  each_row(kGettingFrom, call.number, [&](const PlaceRow& row) { note(call, KernelStep::kTakes, row.place); });
  for (const long number : kPolling)
    if (number == call.number && result > 0) note(call, KernelStep::kReceivesAny, 0);
  if (call.number == SYS_recvmsg || call.number == SYS_recvmmsg) note_descriptors(call, KernelStep::kPassed, result);
  if (locks_file(call)) note(call, KernelStep::kTakes, KernelPlace::kFileLocks);
  note_made(call, result);
}

void trace_signal(std::uint64_t pc) {
  note_step(pc, KernelStep::kTakes, static_cast<std::uint64_t>(KernelPlace::kTasks));
}

}  // namespace reweave::core
