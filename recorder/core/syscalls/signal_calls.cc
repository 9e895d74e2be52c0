// System calls about signals. The target's handlers, masks and stacks are virtual (recorder/core/signals.h).
#include <sys/syscall.h>

#include "recorder/core/modelled_signals.h"
#include "recorder/core/process.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);

void set_mask(Call& call, std::uint64_t mask) {
  call.me.signal_mask = mask & ~kUnblockable;
  apply_signal_mask(call.me);
  if (modelled()) release_pending_signals();
}

// Default action "terminate", and not overridden: the process that gets `number` is gone.
bool is_fatal(const Process& target, int number) {
  if (number == SIGKILL) return true;
  if (number <= 0 || number > kSignalCount) return false;
  if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH || number == SIGSTOP ||
      number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
    return false;
  return ((target.handled_signals | target.ignored_signals) & signal_bit(number)) == 0;
}

// A process of the tree that a signal of ours kills takes no part any more, and dies in the replay too.
void kill_in_tree(long pid, int number) {
  RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.process_count; i++) {
    Process& target = s.processes[i];
    if (target.alive == 0 || target.pid != pid || target.index == self().process || !is_fatal(target, number)) continue;
    forget_process(target.index);
    if (replaying()) sys(SYS_kill, target.real_pid, SIGKILL);
  }
}

// The calling thread, or its process as a whole, is the target.
bool sends_to_self(const Call& call) {
  if (call.number == SYS_tgkill) return call.logged[0] == process().pid && call.logged[1] == call.me.tid;
  return call.logged[0] == (call.number == SYS_kill ? process().pid : call.me.tid);
}

// abort() and its like: the kernel would end us before we could log it.
bool raises_own_death(const Call& call, int number) {
  return sends_to_self(call) && is_fatal(process(), number) && (call.me.signal_mask & signal_bit(number)) == 0;
}

}  // namespace

long handle_rt_sigaction(Call& call) {
  const auto number = static_cast<int>(call.args[0]);
  if (number < 1 || number > kSignalCount || call.args[3] != 8) return complete(call, -EINVAL);
  SignalAction& current = signal_action(number);
  const SignalAction old = current;
  if (call.args[1] != 0) {
    if (number == SIGKILL || number == SIGSTOP) return complete(call, -EINVAL);
    memcpy(&current, reinterpret_cast<void*>(call.args[1]), sizeof current);
    current.mask &= ~kUnblockable;
    apply_disposition(number);
  }
  if (call.args[2] != 0) memcpy(reinterpret_cast<void*>(call.args[2]), &old, sizeof old);
  return complete(call, 0);
}

long handle_rt_sigprocmask(Call& call) {
  if (call.args[3] != 8) return complete(call, -EINVAL);
  const std::uint64_t old = call.me.signal_mask;
  if (call.args[1] != 0) {
    const std::uint64_t set = *reinterpret_cast<const std::uint64_t*>(call.args[1]);
    switch (call.args[0]) {
      case SIG_BLOCK:
        set_mask(call, old | set);
        break;
      case SIG_UNBLOCK:
        set_mask(call, old & ~set);
        break;
      case SIG_SETMASK:
        set_mask(call, set);
        break;
      default:
        return complete(call, -EINVAL);
    }
  }
  if (call.args[2] != 0) *reinterpret_cast<std::uint64_t*>(call.args[2]) = old;
  return complete(call, 0);
}

// The mask of sigsuspend, ppoll and the like holds until the handler of the signal that ends the call has its frame.
long handle_with_temporary_mask(Call& call) {
  const bool epoll = call.number == SYS_epoll_pwait || call.number == SYS_epoll_pwait2;
  const int slot = call.number == SYS_rt_sigsuspend ? 0 : call.number == SYS_ppoll ? 3 : epoll ? 4 : 5;
  std::uint64_t mask_address = static_cast<std::uint64_t>(call.args[slot]);
  if (call.number == SYS_pselect6 && mask_address != 0) mask_address = *reinterpret_cast<std::uint64_t*>(mask_address);
  if (mask_address != 0) {
    call.me.saved_mask = call.me.signal_mask;
    call.me.has_saved_mask = 1;
    call.me.signal_mask = *reinterpret_cast<const std::uint64_t*>(mask_address) & ~kUnblockable;
  }
  if (call.number == SYS_pselect6) return handle_select(call);
  return recorded_call(call);
}

long handle_sigaltstack(Call& call) {
  Thread& me = call.me;
  const std::uint64_t sp = call.context.registers.rsp;
  const bool inside = me.altstack_size != 0 && sp > me.altstack_base && sp <= me.altstack_base + me.altstack_size;
  const std::int32_t flags = me.altstack_size == 0 ? SS_DISABLE
                             : inside              ? SS_ONSTACK
                                                   : static_cast<int>(me.altstack_flags);
  const KernelStack old = {me.altstack_base, flags, 0, me.altstack_size};
  if (call.args[0] != 0) {
    if (inside) return complete(call, -EPERM);
    const auto& wanted = *reinterpret_cast<const KernelStack*>(call.args[0]);
    const bool off = (wanted.flags & SS_DISABLE) != 0;
    if (!off && wanted.bytes < 2048) return complete(call, -ENOMEM);
    me.altstack_base = off ? 0 : wanted.base;
    me.altstack_size = off ? 0 : wanted.bytes;
    me.altstack_flags = off ? static_cast<std::uint32_t>(SS_DISABLE) : static_cast<std::uint32_t>(wanted.flags);
  }
  if (call.args[1] != 0) memcpy(reinterpret_cast<void*>(call.args[1]), &old, sizeof old);
  return complete(call, 0);
}

long handle_kill(Call& call) {
  const auto number = static_cast<int>(call.logged[call.number == SYS_tgkill ? 2 : 1]);
  if (modelled() && send_modelled(call, number)) {
    log_call(call, 0, nullptr, 0);
    return 0;
  }
  if (live() && raises_own_death(call, number)) {
    log_call(call, 0, nullptr, 0);
    queue_own_signal(call.me, number);
    return 0;
  }
  const long result = recorded_call(call);
  if (result == 0) kill_in_tree(call.logged[0], number);
  return result;
}

}  // namespace reweave::core
