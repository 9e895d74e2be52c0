#include "recorder/core/syscalls/seccomp/seccomp.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/forced_signals.h"
#include "recorder/core/signals/signal_effects.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kStrict = ~std::uint32_t{0};  // value of Thread::seccomp: strict mode, no filters
constexpr std::uint32_t kMaxLength = 4096;            // BPF_MAXINSNS
constexpr std::uint32_t kMemoryWords = 16;            // BPF_MEMWORDS

struct Program {  // struct sock_fprog
  std::uint16_t length;
  std::uint64_t instructions;
};

bool valid_instruction(const sock_filter& i, std::uint32_t at, std::uint32_t length) {
  const std::uint32_t left = length - at - 1;
  switch (BPF_CLASS(i.code)) {
    case BPF_LD:
      if (i.code == (BPF_LD | BPF_W | BPF_ABS)) return i.k % 4 == 0 && i.k < sizeof(seccomp_data);
      if (i.code == (BPF_LD | BPF_MEM)) return i.k < kMemoryWords;
      return i.code == (BPF_LD | BPF_IMM) || i.code == (BPF_LD | BPF_W | BPF_LEN);
    case BPF_LDX:
      if (i.code == (BPF_LDX | BPF_MEM)) return i.k < kMemoryWords;
      return i.code == (BPF_LDX | BPF_IMM) || i.code == (BPF_LDX | BPF_W | BPF_LEN);
    case BPF_ST:
    case BPF_STX:
      return i.k < kMemoryWords;
    case BPF_ALU:
      if (BPF_OP(i.code) == BPF_DIV && BPF_SRC(i.code) == BPF_K) return i.k != 0;
      if ((BPF_OP(i.code) == BPF_LSH || BPF_OP(i.code) == BPF_RSH) && BPF_SRC(i.code) == BPF_K) return i.k < 32;
      return BPF_OP(i.code) <= BPF_NEG || BPF_OP(i.code) == BPF_XOR;
    case BPF_JMP:
      if (BPF_OP(i.code) == BPF_JA) return i.k < left;
      return BPF_OP(i.code) <= BPF_JSET && i.jt < left && i.jf < left;
    case BPF_RET:
      return i.code == (BPF_RET | BPF_K) || i.code == (BPF_RET | BPF_A);
    default:
      return i.code == (BPF_MISC | BPF_TAX) || i.code == (BPF_MISC | BPF_TXA);
  }
}

bool valid(const sock_filter* program, std::uint32_t length) {
  for (std::uint32_t at = 0; at < length; at++)
    if (!valid_instruction(program[at], at, length)) return false;
  return BPF_CLASS(program[length - 1].code) == BPF_RET;
}

std::uint32_t calculate(const sock_filter& i, std::uint32_t a, std::uint32_t b) {
  switch (BPF_OP(i.code)) {
    case BPF_ADD:
      return a + b;
    case BPF_SUB:
      return a - b;
    case BPF_MUL:
      return a * b;
    case BPF_DIV:
      return b == 0 ? 0 : a / b;
    case BPF_OR:
      return a | b;
    case BPF_AND:
      return a & b;
    case BPF_LSH:
      return b < 32 ? a << b : 0;
    case BPF_RSH:
      return b < 32 ? a >> b : 0;
    case BPF_NEG:
      return -a;
    default:
      return a ^ b;
  }
}

bool compares(const sock_filter& i, std::uint32_t a, std::uint32_t b) {
  switch (BPF_OP(i.code)) {
    case BPF_JEQ:
      return a == b;
    case BPF_JGT:
      return a > b;
    case BPF_JGE:
      return a >= b;
    default:
      return (a & b) != 0;
  }
}

// The value that a valid program returns (Documentation/networking/filter.rst).
std::uint32_t evaluate(const sock_filter* program, std::uint32_t length, const seccomp_data& data) {
  std::uint32_t a = 0, x = 0, memory[kMemoryWords] = {};
  for (std::uint32_t at = 0; at < length; at++) {
    const sock_filter& i = program[at];
    const std::uint32_t operand = BPF_SRC(i.code) == BPF_X ? x : i.k;
    switch (BPF_CLASS(i.code)) {
      case BPF_LD:
      case BPF_LDX: {
        std::uint32_t value = i.k;
        if (BPF_MODE(i.code) == BPF_ABS) memcpy(&value, reinterpret_cast<const std::byte*>(&data) + i.k, sizeof value);
        if (BPF_MODE(i.code) == BPF_MEM) value = memory[i.k];
        if (BPF_MODE(i.code) == BPF_LEN) value = sizeof data;
        (BPF_CLASS(i.code) == BPF_LD ? a : x) = value;
        break;
      }
      case BPF_ST:
        memory[i.k] = a;
        break;
      case BPF_STX:
        memory[i.k] = x;
        break;
      case BPF_ALU:
        a = calculate(i, a, operand);
        break;
      case BPF_JMP:
        at += BPF_OP(i.code) == BPF_JA ? i.k : compares(i, a, operand) ? i.jt : i.jf;
        break;
      case BPF_RET:
        return BPF_RVAL(i.code) == BPF_A ? a : i.k;
      default:
        (i.code == (BPF_MISC | BPF_TAX) ? x : a) = i.code == (BPF_MISC | BPF_TAX) ? a : x;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

const sock_filter* instructions_of(const SeccompFilter& filter) {
  return reinterpret_cast<const sock_filter*>(state().seccomp_instructions + filter.start);
}

struct Choice {
  std::uint32_t value;
  std::uint32_t filter;  // the number of the filter that returned it; 0: all allow the call
};

// Returns the strictest result of all filters; among equally strict ones, that of the newest filter, which comes first.
Choice strictest(std::uint32_t filter, const seccomp_data& data) {
  Choice chosen = {SECCOMP_RET_ALLOW, 0};
  for (; filter != 0; filter = state().seccomp_filters[filter - 1].older) {
    const SeccompFilter& f = state().seccomp_filters[filter - 1];
    const std::uint32_t value = evaluate(instructions_of(f), f.length, data);
    const auto rank = [](std::uint32_t v) { return static_cast<std::int32_t>(v & SECCOMP_RET_ACTION_FULL); };
    if (rank(value) < rank(chosen.value)) chosen = {value, filter};
  }
  return chosen;
}

bool strict_allows(long number) { return (find_row(number)->flags & kStrictMode) != 0; }

struct SystemCallInfo {  // siginfo_t of SIGSYS
  std::int32_t number, error, code, padding;
  std::uint64_t address;
  std::int32_t call;
  std::uint32_t architecture;
  std::uint8_t rest[96];
};
static_assert(sizeof(SystemCallInfo) == 128);

void trap(Call& call, std::uint32_t data) {
  SystemCallInfo info = {SIGSYS,
                         static_cast<std::int32_t>(data),
                         1 /* SYS_SECCOMP */,
                         0,
                         call.context.registers.rip,
                         static_cast<std::int32_t>(call.number),
                         AUDIT_ARCH_X86_64,
                         {}};
  force_signal(call.context, SIGSYS, &info);
}

bool is_ancestor(std::uint32_t old, std::uint32_t of) {
  for (; of != 0 && of != old; of = state().seccomp_filters[of - 1].older) {
  }
  return of == old;
}

// True if a thread of the calling process has this filter. It must not be shared then: two threads that each installed
// a filter cannot be synchronised, even if the filters are equal (seccomp(2)).
bool is_used_by_sibling(std::uint32_t filter) {
  for (const Thread& thread : threads_of(state(), process()))
    if (is_ancestor(filter, thread.seccomp)) return true;
  return false;
}

// Adds a filter on top of `older` and returns its number (from 1), or 0 if there is no room. An existing equal filter
// is shared: programs confine one process after another in the same way, and filters are never freed. A filter with a
// listener is its own.
std::uint32_t keep(const sock_filter* program, std::uint32_t length, std::uint32_t older, std::uint32_t notifies) {
  RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.seccomp_count && notifies == 0; i++) {
    const SeccompFilter& known = s.seccomp_filters[i];
    const bool same = known.older == older && known.length == length && known.notifies == 0 &&
                      memcmp(program, s.seccomp_instructions + known.start, length * sizeof *program) == 0;
    if (same && !is_used_by_sibling(i + 1)) return i + 1;
  }
  if (s.seccomp_count == kMaxSeccompFilters || s.seccomp_used + length > kMaxSeccompInstructions) return 0;
  memcpy(s.seccomp_instructions + s.seccomp_used, program, length * sizeof *program);
  s.seccomp_filters[s.seccomp_count++] = {older, s.seccomp_used, length, notifies, 0, 0};
  s.seccomp_used += length;
  return s.seccomp_count;
}

// Live: true if the kernel would let this thread install a filter.
bool privileged() {
  if (sys(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return true;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {};
  sys(SYS_capget, &header, data);
  return (data[0].effective >> CAP_SYS_ADMIN & 1) != 0;
}

// The first thread of the process that cannot take over the caller's filters, or null.
const Thread* conflicting_thread(const Thread& me) {
  for (const Thread& thread : threads_of(state(), state().processes[me.process]))
    if (thread.seccomp == kStrict || !is_ancestor(thread.seccomp, me.seccomp)) return &thread;
  return nullptr;
}

void install(Thread& me, std::uint32_t filter, bool all_threads) {
  me.seccomp = filter;
  if (!all_threads) return;
  for (Thread& thread : threads_of(state(), state().processes[me.process])) thread.seccomp = filter;
}

constexpr long kSync = SECCOMP_FILTER_FLAG_TSYNC, kSyncEsrch = 16;

bool are_valid(long flags) {
  constexpr long kKnown =
      kSync | SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW | kHasListener | kSyncEsrch | kWaitsKillable;
  if ((flags & ~kKnown) != 0) return false;
  const bool listens = (flags & kHasListener) != 0;
  if (listens && (flags & kSync) != 0 && (flags & kSyncEsrch) == 0) return false;  // the result would be ambiguous
  return listens || (flags & kWaitsKillable) == 0;
}

// A call has one supervisor at most.
bool has_listener(std::uint32_t filter) {
  for (; filter != 0; filter = state().seccomp_filters[filter - 1].older)
    if (state().seccomp_filters[filter - 1].notifies != 0) return true;
  return false;
}

// Live: makes the listener, if there is to be one. Returns the result of installing the filter.
long make_listener(const Thread& me, long flags, SeccompFilter& filter) {
  if ((flags & kHasListener) == 0) return 0;
  return has_listener(me.seccomp) ? -EBUSY : open_listener(filter);
}

// Logs or injects the result of installing a valid filter. `made` gets the filter's listener.
long outcome_of(Call& call, long flags, SeccompFilter& made) {
  if (replaying()) return inject(call);
  const Thread* conflict = (flags & kSync) != 0 ? conflicting_thread(call.me) : nullptr;
  long result = conflict == nullptr ? 0 : (flags & kSyncEsrch) != 0 ? -ESRCH : conflict->tid;
  if (live())
    result = !privileged() ? -EACCES : result != 0 ? result : make_listener(call.me, flags, made);
  else if ((flags & kHasListener) != 0)
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: explored runs cannot supervise system calls yet");
  log_call(call, result, nullptr, 0);
  return result;
}

long set_filter(Call& call, long flags, long address) {
  if (!are_valid(flags)) return complete(call, -EINVAL);
  const Program program = *reinterpret_cast<const Program*>(address);
  if (program.length == 0 || program.length > kMaxLength || call.me.seccomp == kStrict) return complete(call, -EINVAL);
  const auto* instructions = reinterpret_cast<const sock_filter*>(program.instructions);
  if (!valid(instructions, program.length)) return complete(call, -EINVAL);
  SeccompFilter made = {};
  const bool listens = (flags & kHasListener) != 0;
  const long result = outcome_of(call, flags, made);
  if (listens ? is_error(result) : result != 0) return result;
  const std::uint32_t filter =
      keep(instructions, program.length, call.me.seccomp, listens ? static_cast<std::uint32_t>(flags) : 0);
  if (filter == 0) stop_run(wire::OutcomeKind::kUnsupported, "more seccomp filters than Reweave keeps");
  SeccompFilter& kept = state().seccomp_filters[filter - 1];
  kept.listener = made.listener;
  kept.bell = made.bell;
  if (listens) forget_fd(result);
  install(call.me, filter, (flags & kSync) != 0);
  return result;
}

long set_strict(Call& call) {
  if (call.me.seccomp != 0 && call.me.seccomp != kStrict) return complete(call, -EINVAL);
  call.me.seccomp = kStrict;
  return complete(call, 0);
}

long action_available(Call& call) {
  constexpr std::uint32_t kKnown[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
                                      SECCOMP_RET_ERRNO,        SECCOMP_RET_TRACE,       SECCOMP_RET_LOG,
                                      SECCOMP_RET_ALLOW,        SECCOMP_RET_USER_NOTIF};
  for (std::uint32_t known : kKnown)
    if (*reinterpret_cast<const std::uint32_t*>(call.args[2]) == known) return complete(call, 0);
  return complete(call, -EOPNOTSUPP);
}

}  // namespace

namespace {

seccomp_data data_of(const KernelRegisters& r, long number) {
  return {static_cast<int>(number), AUDIT_ARCH_X86_64, r.rip, {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9}};
}

// Ends the thread. If it is the last thread of its process, the process dies of signal `number`.
void end_thread_by(Call& call, int number) {
  if (process().live_threads > 1) handle_exit(call);
  die_of(call.context, number);
}

}  // namespace

bool filters_ask_tracer(const KernelRegisters& registers, long number, std::uint64_t& message) {
  const std::uint32_t filter = self().seccomp;
  if (filter == 0 || filter == kStrict) return false;
  const std::uint32_t value = strictest(filter, data_of(registers, number)).value;
  message = value & SECCOMP_RET_DATA;
  return (value & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
}

Verdict filter_call(Call& call, long& result) {
  if (call.me.seccomp == kStrict) {
    if (strict_allows(call.number)) return Verdict::kAllow;
    result = call.number;
    end_thread_by(call, SIGKILL);
    return Verdict::kAnswered;
  }
  const seccomp_data data = data_of(call.context.registers, call.number);
  const auto [value, filter] = strictest(call.me.seccomp, data);
  const std::uint32_t rest = value & SECCOMP_RET_DATA;
  result = call.number;
  switch (value & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
      return Verdict::kAllow;
    case SECCOMP_RET_ERRNO:
      result = complete(call, -static_cast<long>(rest < 4095 ? rest : 4095));
      break;
    case SECCOMP_RET_TRAP:
      trap(call, rest);
      break;
    case SECCOMP_RET_TRACE:
      if (wants_event(call.me, PTRACE_EVENT_SECCOMP)) return Verdict::kAllow;  // its tracer has seen it (trace_stops.h)
      result = complete(call, -ENOSYS);
      break;
    case SECCOMP_RET_USER_NOTIF:
      if (state().seccomp_filters[filter - 1].notifies == 0)
        result = complete(call, -ENOSYS);
      else if (await_answer(call, filter, data, result))
        return Verdict::kAllow;
      break;
    case SECCOMP_RET_KILL_THREAD:
      end_thread_by(call, SIGSYS);
      break;
    default:
      die_of(call.context, SIGSYS);
  }
  return Verdict::kAnswered;
}

long set_seccomp(Call& call, long mode, long program) {
  if (mode == SECCOMP_MODE_STRICT) return set_strict(call);
  return mode == SECCOMP_MODE_FILTER ? set_filter(call, 0, program) : complete(call, -EINVAL);
}

long seccomp_mode(const Thread& thread) {
  return thread.seccomp == 0         ? SECCOMP_MODE_DISABLED
         : thread.seccomp == kStrict ? SECCOMP_MODE_STRICT
                                     : SECCOMP_MODE_FILTER;
}

std::uint32_t seccomp_filters_of(const Thread& thread) {
  std::uint32_t count = 0;
  if (thread.seccomp == kStrict) return 0;
  for (std::uint32_t number = thread.seccomp; number != 0; number = state().seccomp_filters[number - 1].older) count++;
  return count;
}

long handle_seccomp(Call& call) {
  const long operation = call.args[0], flags = call.args[1];
  switch (operation) {
    case SECCOMP_SET_MODE_STRICT:
      return flags != 0 || call.args[2] != 0 ? complete(call, -EINVAL) : set_strict(call);
    case SECCOMP_SET_MODE_FILTER:
      return set_filter(call, flags, call.args[2]);
    case SECCOMP_GET_ACTION_AVAIL:
      return flags != 0 ? complete(call, -EINVAL) : action_available(call);
    case SECCOMP_GET_NOTIF_SIZES:
      if (flags != 0) return complete(call, -EINVAL);
      *reinterpret_cast<struct seccomp_notif_sizes*>(call.args[2]) = {
          sizeof(struct seccomp_notif), sizeof(struct seccomp_notif_resp), sizeof(struct seccomp_data)};
      return complete(call, 0);
    default:
      return complete(call, -EINVAL);
  }
}

}  // namespace reweave::core
