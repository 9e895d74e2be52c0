// System calls about signals. The target's handlers, masks and stacks are virtual (recorder/core/signals/signals.h).
#include <sys/syscall.h>

#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_effects.h"
#include "recorder/core/signals/signal_frames.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kAutodisarm = std::uint32_t{1} << 31;  // SS_AUTODISARM, sigaltstack(2)
// The flags of sigaction(2) that exist; the kernel clears others, so that programs can find out what it supports.
constexpr std::uint64_t kExposeTagBits = 0x800, kRestorer = 0x0400'0000;
constexpr std::uint64_t kKnownFlags = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | kExposeTagBits | kRestorer |
                                      SA_ONSTACK | SA_RESTART | SA_NODEFER |
                                      std::uint64_t{0x8000'0000};  // SA_RESETHAND
constexpr std::uint64_t kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);

void set_mask(Call& call, std::uint64_t mask) {
  call.me.signal_mask = mask & ~kUnblockable;
  take_pending_defaults(call.me);
  apply_signal_mask(call.me);
  if (modelled()) explored.release_signals();
}

// Reads the time limit, as the kernel does before it checks the mask. An inaccessible one faults here.
void touch_time_limit(const Call& call) {
  const bool is_there = call.row->at.limit >= 0 && (call.row->flags & kMilliseconds) == 0;
  const long limit = is_there ? call.args[call.row->at.limit] : 0;
  const auto* words = reinterpret_cast<const volatile long*>(limit);
  if (limit != 0) (void)words[0], (void)words[1];
}

}  // namespace

long handle_rt_sigaction(Call& call) {
  const auto number = static_cast<int>(call.args[0]);
  if (call.args[3] != 8) return complete(call, -EINVAL);
  SignalAction wanted = {};
  if (call.args[1] != 0) memcpy(&wanted, reinterpret_cast<void*>(call.args[1]), sizeof wanted);
  if (number < 1 || number > kSignalCount) return complete(call, -EINVAL);
  SignalAction& current = signal_action(number);
  const SignalAction old = current;
  if (call.args[1] != 0) {
    if (number == SIGKILL || number == SIGSTOP) return complete(call, -EINVAL);
    wanted.flags &= kKnownFlags;
    wanted.mask &= ~kUnblockable;
    current = wanted;
    apply_disposition(number);
    if (default_action(process(), number) == DefaultAction::kIgnore && wanted.handler <= 1) {
      drop_held(call.me, number);
      if (modelled()) explored.forget_signal(number);
    }
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

// Sets the mask of sigsuspend, ppoll and others. It stays until the handler of the signal that ends the call has its
// frame.
long handle_with_temporary_mask(Call& call) {
  const int slot = call.row->at.mask;
  const bool is_apart = (call.row->flags & kMaskApart) != 0;
  auto mask_address = static_cast<std::uint64_t>(call.args[slot]);
  auto mask_bytes = is_apart ? 8 : static_cast<std::uint64_t>(call.args[slot + 1]);
  if (is_apart && mask_address != 0) {
    const auto* mask = reinterpret_cast<const std::uint64_t*>(mask_address);
    mask_address = mask[0];
    mask_bytes = mask[1];
  }
  const bool has_mask = mask_address != 0 || slot == 0;  // sigsuspend must have one
  touch_time_limit(call);
  if (has_mask && mask_bytes != 8) return complete(call, -EINVAL);
  if (mask_address != 0) {
    call.me.saved_mask = call.me.signal_mask;
    call.me.has_saved_mask = 1;
    call.me.signal_mask = *reinterpret_cast<const std::uint64_t*>(mask_address) & ~kUnblockable;
    if (live() && call.me.held != 0) release_held(call.me);  // the kernel does not know about held signals
  }
  return (call.row->flags & kPollsSets) != 0 ? handle_select(call) : recorded_call(call);
}

// Calls that continue after a stop are made again under their own numbers, so there is never one to restart.
long handle_restart_syscall(Call& call) { return complete(call, -EINTR); }

long handle_rt_sigpending(Call& call) {
  if (!live() || call.me.held == 0 || call.args[1] != 8) return recorded_call(call);
  std::uint64_t pending = 0;
  const long result = sys(SYS_rt_sigpending, &pending, 8);
  const Output output = {static_cast<std::uint64_t>(call.args[0]), sizeof pending};
  pending |= held_mask(call.me);
  memcpy(reinterpret_cast<void*>(output.address), &pending, sizeof pending);
  log_call(call, result, &output, 1);
  return result;
}

long handle_rt_sigtimedwait(Call& call) {
  if (!live() || call.me.held == 0 || call.args[3] != 8) return recorded_call(call);
  std::uint64_t pending = 0;
  sys(SYS_rt_sigpending, &pending, 8);
  const std::uint64_t wanted = *reinterpret_cast<const std::uint64_t*>(call.args[0]);
  if (!held_come_first(call.me, wanted, pending)) return recorded_call(call);
  std::uint8_t info[128];
  const int number = take_held(call.me, wanted, info);
  if (number == 0) return recorded_call(call);
  if (call.args[1] != 0) memcpy(reinterpret_cast<void*>(call.args[1]), info, sizeof info);
  return log_value(call, number, static_cast<std::uint64_t>(call.args[1]), sizeof info);
}

long handle_sigaltstack(Call& call) {
  Thread& me = call.me;
  const std::uint64_t sp = call.context.registers.rsp;
  const bool inside = on_alternate_stack(me, sp);
  const std::int32_t flags = me.altstack_size == 0 ? SS_DISABLE
                             : inside              ? SS_ONSTACK
                                                   : static_cast<int>(me.altstack_flags);
  const KernelStack old = {me.altstack_base, flags, 0, me.altstack_size};
  if (call.args[0] != 0) {
    if (inside) return complete(call, -EPERM);
    const auto& wanted = *reinterpret_cast<const KernelStack*>(call.args[0]);
    const bool off = (wanted.flags & SS_DISABLE) != 0;
    const auto mode = static_cast<std::uint32_t>(wanted.flags) & ~kAutodisarm;
    if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE) return complete(call, -EINVAL);
    if (!off && wanted.bytes < 2048) return complete(call, -ENOMEM);
    if (off) {
      disable_alternate_stack(me);
    } else {
      me.altstack_base = wanted.base;
      me.altstack_size = wanted.bytes;
      me.altstack_flags = static_cast<std::uint32_t>(wanted.flags) & kAutodisarm;
    }
  }
  if (call.args[1] != 0) memcpy(reinterpret_cast<void*>(call.args[1]), &old, sizeof old);
  return complete(call, 0);
}

}  // namespace reweave::core
