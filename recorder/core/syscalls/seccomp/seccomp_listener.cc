// The supervisor's side of seccomp's user notification: the requests of a listener (seccomp_unotify(2)).
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <poll.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/seccomp/seccomp_bells.h"
#include "recorder/core/syscalls/seccomp/seccomp_messages.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

bool waits(const SeccompNotice& notice, ThreadId thread) {
  const Thread& owner = thread_of(thread);
  return notice.state != NoticeState::kNone && owner.state.load() != ThreadState::kExited && owner.tid == notice.tid &&
         state().processes[owner.process].alive != 0;
}

// The thread whose call waits with the notification `id` of the filter; null if there is none.
Thread* waiting_thread(std::uint32_t filter, std::uint64_t id) {
  RuntimeState& s = state();
  for (Thread& thread : live_threads(s)) {
    const SeccompNotice& notice = s.seccomp_notices[thread.id];
    if (notice.filter == filter && notice.id == id && waits(notice, thread.id)) return &thread;
  }
  return nullptr;
}

SeccompNotice& notice_of(const Thread& thread) { return state().seccomp_notices[thread.id]; }

Thread* oldest_new(std::uint32_t filter) {
  Thread* oldest = nullptr;
  for (Thread& thread : live_threads(state())) {
    const SeccompNotice& notice = notice_of(thread);
    if (notice.filter != filter || notice.state != NoticeState::kNew || !waits(notice, thread.id)) continue;
    if (oldest == nullptr || notice.id < notice_of(*oldest).id) oldest = &thread;
  }
  return oldest;
}

long finish(Call& call, long result) {
  log_call(call, result, nullptr, 0);
  return result;
}

void sleep_at_listener(Call& call) {
  call.flags |= wire::kLeftBaton;
  leave_baton();
  sleep_at_pipe(call.args[0], -1, interruptions_of(call.me));
  return_from_kernel();
}

// The result of a request that a signal interrupted.
long interruption() { return due_signal_restarts() ? kNotStarted : -EINTR; }

bool is_zero(const std::uint8_t* bytes, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; i++)
    if (bytes[i] != 0) return false;
  return true;
}

long receive(Call& call, std::uint32_t filter) {
  auto* to = reinterpret_cast<struct seccomp_notif*>(call.args[2]);
  if (!is_zero(reinterpret_cast<const std::uint8_t*>(to), sizeof *to)) return finish(call, -EINVAL);
  memset(to, 0, sizeof *to);  // fails with EFAULT before a notification is taken
  for (;;) {
    call.me.kicked.store(0);
    const std::uint32_t now = state_of_pipe(call.args[0]);
    if ((now & (POLLIN | POLLHUP)) != 0) break;
    if (call.me.queued.load() != 0) return finish(call, interruption());
    sleep_at_listener(call);
  }
  // A call that was interrupted leaves its ring behind, and the kernel answers as here.
  Thread* thread = take_ring(call.args[0]) ? oldest_new(filter) : nullptr;
  if (thread == nullptr) return finish(call, -ENOENT);
  SeccompNotice& notice = notice_of(*thread);
  struct seccomp_notif told = {};
  told.id = notice.id;
  told.pid = static_cast<std::uint32_t>(id_seen_from(process().pid_namespace, *thread));
  memcpy(&told.data, &notice.data, sizeof told.data);
  memcpy(to, &told, sizeof told);
  notice.state = NoticeState::kReceived;
  return log_value(call, 0, static_cast<std::uint64_t>(call.args[2]), sizeof told);
}

// 0, or the error of answering the notification.
long check_waiting(const Thread* thread) {
  if (thread == nullptr) return -ENOENT;
  return notice_of(*thread).state == NoticeState::kReceived ? 0 : -EINPROGRESS;
}

long send(Call& call, std::uint32_t filter) {
  const auto answer = *reinterpret_cast<const struct seccomp_notif_resp*>(call.args[2]);
  constexpr std::uint32_t kContinue = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  const bool continues = (answer.flags & kContinue) != 0;
  if ((answer.flags & ~kContinue) != 0 || (continues && (answer.error != 0 || answer.val != 0)))
    return finish(call, -EINVAL);
  const Thread* thread = waiting_thread(filter, answer.id);
  const long error = check_waiting(thread);
  if (error != 0) return finish(call, error);
  SeccompNotice& notice = notice_of(*thread);
  notice.value = answer.val;
  notice.error = answer.error;
  notice.flags = answer.flags;
  notice.state = NoticeState::kAnswered;
  kick(*thread);
  return finish(call, 0);
}

long is_valid(Call& call, std::uint32_t filter) {
  const Thread* thread = waiting_thread(filter, *reinterpret_cast<const std::uint64_t*>(call.args[2]));
  const bool valid = thread != nullptr && notice_of(*thread).state == NoticeState::kReceived;
  return finish(call, valid ? 0 : -ENOENT);
}

long set_flags(Call& call, std::uint32_t) {
  constexpr long kSyncWakeUp = 1;
  return finish(call, (call.args[2] & ~kSyncWakeUp) != 0 ? -EINVAL : 0);
}

// Puts the supervisor's descriptor into the socket that the waiting thread has opened. 0, or an error.
long give(const Thread& thread, const SeccompNotice& notice, long fd) {
  constexpr long kPidfdOpen = 434, kPidfdGetfd = 438;
  const long process = sys(kPidfdOpen, kernel_id(state().processes[thread.process]), 0);
  if (is_error(process)) return process;
  const long socket = sys(kPidfdGetfd, process, notice.gift_socket, 0);
  sys(SYS_close, process);
  if (is_error(socket)) return socket;
  const long sent = send_descriptor(socket, fd);
  sys(SYS_close, socket);
  return is_error(sent) ? sent : 0;
}

long check_addition(const struct seccomp_notif_addfd& wanted) {
  constexpr std::uint32_t kKnown = SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND;
  if ((wanted.newfd_flags & ~static_cast<std::uint32_t>(O_CLOEXEC)) != 0 || (wanted.flags & ~kKnown) != 0)
    return -EINVAL;
  if (wanted.newfd != 0 && (wanted.flags & SECCOMP_ADDFD_FLAG_SETFD) == 0) return -EINVAL;
  const bool is_open = !is_our_fd(wanted.srcfd) && !is_error(sys(SYS_fcntl, wanted.srcfd, F_GETFD));
  return is_open ? 0 : -EBADF;
}

// A thread killed from outside the tree kicks no one. Signals wait until the other thread has its descriptor.
void wait_a_moment(Call& call) {
  constexpr int kLookEveryMs = 20;
  constexpr std::uint64_t kNone = 0;
  call.me.kicked.store(0);
  call.flags |= wire::kLeftBaton;
  leave_baton();
  sleep_at_pipe(-1, kLookEveryMs, &kNone);
  return_from_kernel();
}

// Lets the thread take over the descriptor (GiftState), and returns its number there.
long pass_on(Call& call, const Thread& thread, const struct seccomp_notif_addfd& wanted) {
  SeccompNotice &notice = notice_of(thread), &mine = notice_of(call.me);
  mine.is_given = 0;
  notice.gift = GiftState::kWanted;
  notice.giver = call.me.id;
  notice.gift_flags = wanted.flags;
  notice.gift_open_flags = wanted.newfd_flags;
  notice.gift_number = static_cast<std::int32_t>(wanted.newfd);
  kick(thread);
  while (mine.is_given == 0) {
    if (notice.id != wanted.id || !waits(notice, thread.id)) return -ESRCH;
    if (notice.gift == GiftState::kOpen) {
      notice.gift_error = static_cast<std::int32_t>(give(thread, notice, wanted.srcfd));
      notice.gift = GiftState::kSent;
      kick(thread);
    }
    wait_a_moment(call);
  }
  return mine.given;
}

long add_descriptor(Call& call, std::uint32_t filter) {
  struct seccomp_notif_addfd wanted = {};
  const std::uint64_t bytes = static_cast<std::uint32_t>(call.args[1]) >> 16 & 0x3fff;
  const auto* given = reinterpret_cast<const std::uint8_t*>(call.args[2]);
  if (bytes < sizeof wanted || bytes >= kPage) return finish(call, -EINVAL);
  if (!is_zero(given + sizeof wanted, bytes - sizeof wanted)) return finish(call, -E2BIG);
  memcpy(&wanted, given, sizeof wanted);
  if (const long error = check_addition(wanted)) return finish(call, error);
  const Thread* thread = waiting_thread(filter, wanted.id);
  if (const long error = check_waiting(thread)) return finish(call, error);
  const bool busy = notice_of(*thread).gift != GiftState::kNone;
  return finish(call, busy ? -EBUSY : pass_on(call, *thread, wanted));
}

constexpr std::uint32_t kWithoutSize = 0xc000ffff;
constexpr std::uint32_t kOldIdValid = 0x80082102;  // SECCOMP_IOCTL_NOTIF_ID_VALID with the wrong direction
constexpr std::uint32_t kSetFlags = 0x40082104;    // SECCOMP_IOCTL_NOTIF_SET_FLAGS

struct Row {
  std::uint32_t request;
  std::uint32_t mask;
  long (*carry_out)(Call&, std::uint32_t filter);
};
constexpr Row kRows[] = {
    {SECCOMP_IOCTL_NOTIF_RECV, ~0u, receive},
    {SECCOMP_IOCTL_NOTIF_SEND, ~0u, send},
    {SECCOMP_IOCTL_NOTIF_ID_VALID, ~0u, is_valid},
    {kOldIdValid, ~0u, is_valid},
    {kSetFlags, ~0u, set_flags},
    {SECCOMP_IOCTL_NOTIF_ADDFD & kWithoutSize, kWithoutSize, add_descriptor},
};

const Row* find_row_of(std::uint32_t request) {
  for (const Row& row : kRows)
    if ((request & row.mask) == row.request) return &row;
  return nullptr;
}

}  // namespace

bool is_of_listener(std::uint32_t request) { return find_row_of(request) != nullptr; }

bool handle_listener(Call& call, long& result) {
  const std::uint32_t filter = filter_of_listener(call.args[0]);
  if (filter == 0) return false;
  result = find_row_of(static_cast<std::uint32_t>(call.args[1]))->carry_out(call, filter);
  return true;
}

}  // namespace reweave::core
