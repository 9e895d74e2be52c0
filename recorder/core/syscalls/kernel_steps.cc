#include "recorder/core/syscalls/kernel_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/syscalls/kernel_step_handlers.h"
#include "recorder/core/syscalls/kernel_step_notes.h"
#include "recorder/core/syscalls/outputs.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// A call that gives data to other threads, or gets data from them, through a descriptor. `argument` is the index of
// that descriptor among the call's arguments.
struct DescriptorRow {
  long number;
  int argument;
};
constexpr DescriptorRow kGiving[] = {
    {SYS_write, 0},    {SYS_writev, 0},   {SYS_pwritev2, 0},        {SYS_sendto, 0},
    {SYS_sendmsg, 0},  {SYS_sendmmsg, 0}, {SYS_sendfile, 0},        {SYS_vmsplice, 0},
    {SYS_splice, 2},   {SYS_tee, 1},      {SYS_pwrite64, 0},        {SYS_pwritev, 0},
    {SYS_shutdown, 0}, {SYS_connect, 0},  {SYS_timerfd_settime, 0}, {SYS_mq_timedsend, 0}};
constexpr DescriptorRow kGetting[] = {
    {SYS_read, 0},     {SYS_readv, 0},   {SYS_preadv2, 0},         {SYS_recvfrom, 0}, {SYS_recvmsg, 0},
    {SYS_recvmmsg, 0}, {SYS_accept, 0},  {SYS_accept4, 0},         {SYS_sendfile, 1}, {SYS_splice, 0},
    {SYS_tee, 0},      {SYS_connect, 0}, {SYS_mq_timedreceive, 0}, {SYS_pread64, 0},  {SYS_preadv, 0}};

struct PlaceRow {
  long number;
  KernelPlace place;
  int argument = -1;  // the argument that identifies the object; -1: there is only one
};
constexpr PlaceRow kGivingTo[] = {{SYS_kill, KernelPlace::kTasks},
                                  {SYS_tkill, KernelPlace::kTasks},
                                  {SYS_tgkill, KernelPlace::kTasks},
                                  {SYS_rt_sigqueueinfo, KernelPlace::kTasks},
                                  {SYS_rt_tgsigqueueinfo, KernelPlace::kTasks},
                                  {SYS_pidfd_send_signal, KernelPlace::kTasks},
                                  {SYS_exit, KernelPlace::kTasks},
                                  {SYS_exit_group, KernelPlace::kTasks},
                                  {SYS_timer_settime, KernelPlace::kTasks},
                                  {SYS_setitimer, KernelPlace::kTasks},
                                  {SYS_alarm, KernelPlace::kTasks},
                                  {SYS_mq_timedsend, KernelPlace::kTasks},  // mq_notify(3)
                                  {SYS_msgsnd, KernelPlace::kMessages, 0},
                                  {SYS_msgctl, KernelPlace::kMessages, 0}};
constexpr PlaceRow kGettingFrom[] = {{SYS_waitid, KernelPlace::kTasks},
                                     {SYS_rt_sigtimedwait, KernelPlace::kTasks},
                                     {SYS_rt_sigpending, KernelPlace::kTasks},
                                     {SYS_msgrcv, KernelPlace::kMessages, 0},
                                     {SYS_msgctl, KernelPlace::kMessages, 0}};

template <typename Row, typename Use>
void each_row(const Row& rows, long number, const Use& use) {
  for (const auto& row : rows)
    if (row.number == number) use(row);
}

void note_place(const Call& call, KernelStep step, const PlaceRow& row) {
  note(call, step, row.place, row.argument < 0 ? 0 : call.logged[row.argument]);
}

// Visits the descriptors in the control data of the message at `header`.
template <typename Use>
void each_descriptor(std::uint64_t header, const Use& use) {
  if (!is_there(header, sizeof(msghdr))) return;
  const auto& message = *reinterpret_cast<const msghdr*>(header);
  const auto control = reinterpret_cast<std::uint64_t>(message.msg_control);
  if (control == 0 || !is_there(control, message.msg_controllen)) return;
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

void note_descriptors(const Call& call, KernelStep step, std::uint64_t header) {
  each_descriptor(header, [&](int fd) { note(call, step, call.logged[0], descriptor(fd)); });
}

// Notes the descriptors in each of `count` messages.
void note_descriptors_of_many(const Call& call, KernelStep step, long count) {
  constexpr long kMostMessages = 1024;  // UIO_MAXIOV
  for (long i = 0; i < count && i < kMostMessages; i++)
    note_descriptors(call, step, static_cast<std::uint64_t>(call.logged[1] + i * static_cast<long>(sizeof(mmsghdr))));
}

int futex_operation(const Call& call) { return static_cast<int>(call.logged[1]) & FUTEX_CMD_MASK; }

void note_futex(const Call& call, KernelStep step, std::uint64_t address) {
  if (region_at(address) == nullptr) return;
  note(call, step, KernelPlace::kFutex, static_cast<long>(object_key(address)));
}
void note_futex(const Call& call, KernelStep step, int argument) {
  note_futex(call, step, static_cast<std::uint64_t>(call.logged[argument]));
}

}  // namespace

// The call wakes waiters of a futex or moves them to another one.
void before_futex(const Call& call) {
  const int operation = futex_operation(call);
  if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) return;
  note_futex(call, KernelStep::kGives, 0);
  const bool two = operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE || operation == FUTEX_WAKE_OP ||
                   operation == FUTEX_CMP_REQUEUE_PI;
  if (two) note_futex(call, KernelStep::kGives, 4);
}

// The thread was woken, or the value had changed. A thread that was moved to another futex is woken through either.
void after_futex(const Call& call, long result) {
  if (result != 0 && result != -EAGAIN) return;
  const int operation = futex_operation(call);
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) return;
  note_futex(call, KernelStep::kTakes, 0);
  if (operation == FUTEX_WAIT_REQUEUE_PI) note_futex(call, KernelStep::kTakes, 4);
}

namespace {

// The effect of a call on file locks. A read lock may replace a write lock.
struct FileLocking {
  bool takes = false, gives = false;
};

FileLocking flock_locking(const Call& call) {
  const long command = call.logged[1];
  return {(command & LOCK_UN) == 0, (command & LOCK_EX) == 0};
}

FileLocking fcntl_locking(const Call& call) {
  const long command = call.logged[1];
  const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  const auto address = static_cast<std::uint64_t>(call.logged[2]);
  if (!locks || !is_there(address, sizeof(struct flock))) return {};
  const short type = reinterpret_cast<const struct flock*>(address)->l_type;
  return {type != F_UNLCK, type != F_WRLCK};
}

void give_locks(const Call& call, const FileLocking& locking) {
  if (locking.gives) note(call, KernelStep::kGives, KernelPlace::kFileLocks);
}

void take_locks(const Call& call, const FileLocking& locking) {
  if (locking.takes) note(call, KernelStep::kTakes, KernelPlace::kFileLocks);
}

// The effect of a call on System V semaphores. Adding gives to waiters for a value; taking away gives to waiters for
// zero.
struct SemaphoreUse {
  bool adds = false, takes_away = false, waits_for_zero = false;
};

SemaphoreUse use_by_command(const Call& call) {
  constexpr long kCommands = 0xff;
  const long command = call.logged[2] & kCommands;
  return {command == SETVAL || command == SETALL || command == IPC_RMID, true, true};
}

SemaphoreUse use_by_list(const Call& call) {
  SemaphoreUse use;
  const auto address = static_cast<std::uint64_t>(call.logged[1]);
  const auto count = static_cast<std::uint64_t>(call.logged[2]);
  if (!is_there(address, sizeof(sembuf)) || !is_there(address, count * sizeof(sembuf))) return use;
  for (std::uint64_t i = 0; i < count; i++) {
    const short amount = reinterpret_cast<const sembuf*>(address)[i].sem_op;
    use.adds |= amount > 0;
    use.takes_away |= amount < 0;
    use.waits_for_zero |= amount == 0;
  }
  return use;
}

void give_semaphores(const Call& call, const SemaphoreUse& use) {
  if (use.adds) note(call, KernelStep::kGives, KernelPlace::kSemaphores, call.logged[0]);
  if (use.takes_away) note(call, KernelStep::kGives, KernelPlace::kSemaphoreZero, call.logged[0]);
}

void take_semaphores(const Call& call, const SemaphoreUse& use) {
  if (use.takes_away) note(call, KernelStep::kTakes, KernelPlace::kSemaphores, call.logged[0]);
  if (use.waits_for_zero) note(call, KernelStep::kTakes, KernelPlace::kSemaphoreZero, call.logged[0]);
}

void note_closed(const Call& call, long first, long last) {
  note(call, KernelStep::kClosed, static_cast<long>(descriptor(first)), descriptor(last));
}

}  // namespace

void before_flock(const Call& call) { give_locks(call, flock_locking(call)); }
void after_flock(const Call& call, long) { take_locks(call, flock_locking(call)); }
void before_fcntl(const Call& call) { give_locks(call, fcntl_locking(call)); }
void after_fcntl(const Call& call, long result) {
  take_locks(call, fcntl_locking(call));
  if (call.logged[1] == F_DUPFD || call.logged[1] == F_DUPFD_CLOEXEC) after_dup(call, result);
}

void give_semaphores_by_command(const Call& call) { give_semaphores(call, use_by_command(call)); }
void take_semaphores_by_command(const Call& call, long) { take_semaphores(call, use_by_command(call)); }
void give_semaphores_by_list(const Call& call) { give_semaphores(call, use_by_list(call)); }
void take_semaphores_by_list(const Call& call, long) { take_semaphores(call, use_by_list(call)); }

// A process that ends or executes another program closes descriptors; other threads may wait for an ending thread.
void before_exec(const Call& call) { note(call, KernelStep::kLeaves, 0); }
void before_exit_group(const Call& call) { note(call, KernelStep::kLeaves, 0); }
void before_exit(const Call& call) {
  if (call.me.clear_child_tid != 0) note_futex(call, KernelStep::kGives, call.me.clear_child_tid);
  if (process().live_threads == 1) note(call, KernelStep::kLeaves, 0);
}

void before_close(const Call& call) { note_closed(call, call.logged[0], call.logged[0]); }
void before_close_range(const Call& call) {
  if ((call.logged[2] & CLOSE_RANGE_CLOEXEC) == 0) note_closed(call, call.logged[0], call.logged[1]);
}
void before_dup_onto(const Call& call) {
  if (call.logged[0] != call.logged[1]) note(call, KernelStep::kClosed, call.logged[1], descriptor(call.logged[1]));
}

void before_listen(const Call& call) { note(call, KernelStep::kListens, call.logged[0]); }
void before_sendmsg(const Call& call) {
  note_descriptors(call, KernelStep::kPasses, static_cast<std::uint64_t>(call.logged[1]));
}
void before_sendmmsg(const Call& call) { note_descriptors_of_many(call, KernelStep::kPasses, call.logged[2]); }
void after_recvmsg(const Call& call, long) {
  note_descriptors(call, KernelStep::kPassed, static_cast<std::uint64_t>(call.logged[1]));
}
void after_recvmmsg(const Call& call, long result) { note_descriptors_of_many(call, KernelStep::kPassed, result); }

void after_wait4(const Call& call, long result) {
  if (result > 0) note(call, KernelStep::kTakes, KernelPlace::kTasks);
}
void after_ioctl(const Call& call, long) {
  if (call.logged[1] == FIONREAD) note(call, KernelStep::kReceives, call.logged[0]);
}

void trace_gifts(const Call& call) {
  each_row(kGiving, call.number,
           [&](const DescriptorRow& row) { note(call, KernelStep::kSends, call.logged[row.argument]); });
  each_row(kGivingTo, call.number, [&](const PlaceRow& row) { note_place(call, KernelStep::kGives, row); });
  if (call.row->before != nullptr) call.row->before(call);
}

void trace_receipts(const Call& call, long result) {
  if (is_error(result) && call.row->after != after_futex) return;  // a failed wait also shows that the value changed
  each_row(kGetting, call.number,
           [&](const DescriptorRow& row) { note(call, KernelStep::kReceives, call.logged[row.argument]); });
  each_row(kGettingFrom, call.number, [&](const PlaceRow& row) { note_place(call, KernelStep::kTakes, row); });
  if (call.row->after != nullptr) call.row->after(call, result);
}

}  // namespace reweave::core
