// A call that waits for its supervisor's answer, in the thread that made it.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/seccomp/seccomp_bells.h"
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"
#include "recorder/core/syscalls/seccomp/seccomp_messages.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// The record of a wait is one of seccomp(2) with this operation, which no kernel has. Its results: what becomes of the
// call that waited.
constexpr long kAwaitAnswer = 0x5257;
constexpr long kCarryOut = 0, kAnswered = 1, kMakeAgain = 2;

SeccompFilter& filter_at(std::uint32_t number) { return state().seccomp_filters[number - 1]; }

void end_gift(SeccompNotice& notice, long number) {
  SeccompNotice& giver = state().seccomp_notices[notice.giver];
  giver.given = static_cast<std::int32_t>(number);
  giver.is_given = 1;
  notice.gift = GiftState::kNone;
}

void open_gift_socket(SeccompNotice& notice) {
  int ends[2] = {-1, -1};
  const long made = sys(SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends);
  notice.gift_socket = ends[0];
  notice.gift_own_socket = ends[1];
  notice.gift = GiftState::kOpen;
  if (is_error(made)) end_gift(notice, made);
}

// Gives the received descriptor the number that the supervisor wants, or the lowest.
long place_gift(const SeccompNotice& notice, long received) {
  if (is_error(received)) return received;
  const long wanted = notice.gift_number;
  long number = -EBADF;
  if ((notice.gift_flags & SECCOMP_ADDFD_FLAG_SETFD) == 0)
    number = sys(SYS_fcntl, received, notice.gift_open_flags != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  else if (!is_our_fd(wanted))
    number = received == wanted ? wanted : sys(SYS_dup3, received, wanted, notice.gift_open_flags);
  if (number != received) sys(SYS_close, received);
  if (!is_error(number)) note_received(number);
  return number;
}

void take_gift(SeccompNotice& notice) {
  const long sent = notice.gift_error;
  const long received = sent != 0 ? sent : receive_descriptor(notice.gift_own_socket);
  sys(SYS_close, notice.gift_socket);
  sys(SYS_close, notice.gift_own_socket);
  const long number = place_gift(notice, received);
  end_gift(notice, number);
  if (is_error(number) || (notice.gift_flags & SECCOMP_ADDFD_FLAG_SEND) == 0) return;
  notice.value = number;
  notice.error = 0;
  notice.flags = 0;
  notice.state = NoticeState::kAnswered;
}

void follow_gift(SeccompNotice& notice) {
  const GiftState before = notice.gift;
  if (before == GiftState::kWanted) open_gift_socket(notice);
  if (before == GiftState::kSent) take_gift(notice);
  if (notice.gift != before) kick(thread_of(static_cast<ThreadId>(notice.giver)));
}

// Ends an unfinished gift of a call that no longer waits.
void refuse_gift(SeccompNotice& notice) {
  if (notice.gift == GiftState::kNone) return;
  if (notice.gift != GiftState::kWanted) {
    sys(SYS_close, notice.gift_socket);
    sys(SYS_close, notice.gift_own_socket);
  }
  end_gift(notice, -ESRCH);
  kick(thread_of(static_cast<ThreadId>(notice.giver)));
}

// False: signals interrupt the wait.
bool is_patient(const SeccompNotice& notice) {
  return notice.state == NoticeState::kReceived && (filter_at(notice.filter).notifies & kWaitsKillable) != 0;
}

void sleep(Call& wait, const SeccompNotice& notice) {
  constexpr int kLookEveryMs = 20;  // a kick just before a sleep that signals do not end would be lost
  constexpr std::uint64_t kNone = 0;
  const bool patient = is_patient(notice);
  const std::int32_t bell = filter_at(notice.filter).bell;
  wait.flags |= wire::kLeftBaton;
  leave_baton();
  sleep_at_pipe(bell, patient ? kLookEveryMs : -1, patient ? &kNone : interruptions_of(wait.me));
  return_from_kernel();
}

// Returns what becomes of the call, and in `result` its result if it is answered.
long wait_for_answer(Call& wait, SeccompNotice& notice, long& result) {
  const SeccompFilter& filter = filter_at(notice.filter);
  bool listened = ring(filter);
  while (listened && notice.state != NoticeState::kAnswered) {
    wait.me.kicked.store(0);
    follow_gift(notice);
    if (notice.state == NoticeState::kAnswered) break;
    listened = (state_of_pipe(filter.bell) & POLLERR) == 0;
    if (!listened) break;
    if (wait.me.queued.load() != 0 && !is_patient(notice)) {
      result = -EINTR;
      return due_signal_restarts() ? kMakeAgain : kAnswered;
    }
    sleep(wait, notice);
  }
  if (listened && (notice.flags & SECCOMP_USER_NOTIF_FLAG_CONTINUE) != 0) return kCarryOut;
  result = !listened ? -ENOSYS : notice.error != 0 ? notice.error : notice.value;
  return kAnswered;
}

// Live: waits, and logs what becomes of the call and, if it is answered, its result.
long log_wait(Call& call, Call& wait, SeccompNotice& notice, long& result) {
  const long outcome = wait_for_answer(wait, notice, result);
  refuse_gift(notice);
  notice.state = NoticeState::kNone;
  log_call(wait, outcome, nullptr, 0);
  if (outcome == kAnswered) log_call(call, result, nullptr, 0);
  return outcome;
}

// The same without a supervisor.
long repeat_wait(Call& call, Call& wait, long& result) {
  const long outcome = answered_call(wait);
  if (outcome == kAnswered) result = answered_call(call);
  return outcome;
}

}  // namespace

bool await_answer(Call& call, std::uint32_t filter, const seccomp_data& data, long& result) {
  Call wait = {call.context, call.me, find_row(SYS_seccomp), SYS_seccomp, {kAwaitAnswer}, {kAwaitAnswer}};
  SeccompNotice& notice = state().seccomp_notices[call.me.id];
  notice = {};
  notice.state = NoticeState::kNew;
  notice.filter = filter;
  notice.tid = call.me.tid;
  notice.id = ++state().seccomp_notices_made;
  memcpy(&notice.data, &data, sizeof data);
  const long outcome = live() ? log_wait(call, wait, notice, result) : repeat_wait(call, wait, result);
  if (outcome == kMakeAgain) result = kNotStarted;
  return outcome == kCarryOut;
}

}  // namespace reweave::core
