#include "recorder/core/signals/restarts.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Values of rax: negated error codes that no program sees (include/linux/errno.h of the kernel).
constexpr long kRestartSys = -512;        // restart if the handler has SA_RESTART
constexpr long kRestartNoIntr = -513;     // restart always
constexpr long kRestartNoHandler = -514;  // restart if no handler runs
constexpr long kRestartBlock = -516;      // likewise

bool is_code(long word) {
  return word == kRestartSys || word == kRestartNoIntr || word == kRestartNoHandler || word == kRestartBlock;
}

// True for a socket with a timeout, whose calls are not restarted even with SA_RESTART (signal(7)).
bool has_time_limit(std::uint64_t fd) {
  const FdTable& table = state().fd_tables[self().fd_table];
  return fd < kMaxFds && table.entries[fd].times_out != 0;
}

// Locking is restarted after any handler. A wait with a time limit fails, because the limit may be relative.
bool futex_restarts(int operation, bool timed, bool wanted) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      return true;
    default:
      return wanted && !timed;
  }
}

long code_of(long number, const KernelRegisters& registers) {
  if (!restarts_after_stop(number)) return -EINTR;
  if (restarts_after_signal(number, registers, true)) return kRestartSys;
  constexpr std::uint64_t kOfSockets = kRestarts | kFirstIsFd;
  return (find_row(number)->flags & kOfSockets) == kOfSockets ? -EINTR : kRestartNoHandler;  // it has a time limit
}

}  // namespace

bool restarts_after_signal(long number, const KernelRegisters& registers, bool wanted) {
  if (number == SYS_futex) return futex_restarts(static_cast<int>(registers.rsi), registers.r10 != 0, wanted);
  const std::uint64_t flags = find_row(number)->flags;
  if ((flags & kFirstIsFd) != 0 && has_time_limit(registers.rdi)) return false;
  return wanted && (flags & kRestarts) != 0;
}

bool restarts_after_stop(long number) { return (find_row(number)->flags & kFailsIfStopped) == 0; }

void make_again(KernelContext& context, long number) {
  context.registers.rip -= kSyscallBytes;
  context.registers.rax = static_cast<std::uint64_t>(number);
}

void begin_restart(KernelContext& context, Tracee& tracee, long number) {
  context.registers.rax = static_cast<std::uint64_t>(code_of(number, context.registers));
  tracee.call = number;
}

void begin_call_again(KernelContext& context, Tracee& tracee, long number) {
  context.registers.rip += kSyscallBytes;
  context.registers.rax = static_cast<std::uint64_t>(kRestartNoIntr);
  tracee.call = number;
}

void settle_restart(KernelContext& context, Tracee& tracee, const SignalAction* handler) {
  const auto code = static_cast<long>(context.registers.rax);
  const long number = tracee.call;
  tracee.call = -1;
  if (number < 0 || !is_code(code)) return;
  const bool wanted = handler == nullptr || (code == kRestartSys && (handler->flags & SA_RESTART) != 0);
  if (wanted || code == kRestartNoIntr)
    make_again(context, number);
  else
    context.registers.rax = static_cast<std::uint64_t>(-EINTR);
}

}  // namespace reweave::core
