// prctl and other calls that set attributes of the process.
#include <linux/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/seccomp/seccomp.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Options that act on the thread or process and must take effect in a replay as well.
bool performed_always(long option) { return option == PR_SET_NAME || option == PR_SET_DUMPABLE; }

constexpr long kSetVma = 0x53564d41;  // PR_SET_VMA: names memory

constexpr long kSetMdwe = 65, kGetMdwe = 66;  // PR_SET_MDWE, PR_GET_MDWE

// Once set, the flags stay (core/syscalls/memory/memory.cc enforces them).
long memory_deny_write_execute(Call& call) {
  constexpr std::uint32_t kRefuseGain = 1;
  std::uint32_t& flags = process().write_xor_execute;
  const long* a = call.args;
  const bool set = a[0] == kSetMdwe;
  if ((!set && a[1] != 0) || a[2] != 0 || a[3] != 0 || a[4] != 0) return complete(call, -EINVAL);
  if (!set) return complete(call, flags);
  if ((a[1] & ~long{kRefuseGain | kMdweNotInherited}) != 0 || a[1] == kMdweNotInherited) return complete(call, -EINVAL);
  if (flags != 0 && flags != static_cast<std::uint32_t>(a[1])) return complete(call, -EPERM);
  flags = static_cast<std::uint32_t>(a[1]);
  return complete(call, 0);
}

constexpr long kGetAuxv = 0x41555856, kSchedCore = 62;  // PR_GET_AUXV, PR_SCHED_CORE

// The number of arguments of an option, itself included, and its output.
struct Option {
  long number;
  int arguments;
  int output;  // the argument with the output's address
  std::uint64_t bytes;
};

constexpr Option kOptions[] = {{kSetMdwe, 5, 0, 0},
                               {kGetMdwe, 5, 0, 0},
                               {PR_GET_DUMPABLE, 1, 0, 0},
                               {PR_GET_KEEPCAPS, 1, 0, 0},
                               {PR_GET_TIMING, 1, 0, 0},
                               {PR_GET_SECCOMP, 1, 0, 0},
                               {PR_GET_SECUREBITS, 1, 0, 0},
                               {PR_GET_TIMERSLACK, 1, 0, 0},
                               {PR_GET_NO_NEW_PRIVS, 1, 0, 0},
                               {PR_GET_THP_DISABLE, 1, 0, 0},
                               {PR_MCE_KILL, 5, 0, 0},
                               {PR_SET_MM, 5, 0, 0},
                               {PR_CAP_AMBIENT, 5, 0, 0},
                               {PR_GET_SPECULATION_CTRL, 5, 0, 0},
                               {PR_SET_SPECULATION_CTRL, 5, 0, 0},
                               {kSetVma, 5, 0, 0},
                               {PR_GET_NAME, 2, 1, 16},
                               {PR_GET_PDEATHSIG, 2, 1, 4},
                               {PR_GET_CHILD_SUBREAPER, 2, 1, 4},
                               {PR_GET_UNALIGN, 2, 1, 4},
                               {PR_GET_FPEMU, 2, 1, 4},
                               {PR_GET_FPEXC, 2, 1, 4},
                               {PR_GET_ENDIAN, 2, 1, 4},
                               {kSchedCore, 5, 4, 8},
                               {kGetAuxv, 5, 1, 0}};

Option option_of(long number) {
  for (const Option& known : kOptions)
    if (known.number == number) return known;
  return {number, 2, 0, 0};
}

Output output_of(const Call& call, const Option& option, long result) {
  std::uint64_t bytes = option.bytes;
  int argument = option.output;
  if (option.number == kGetAuxv) {  // the result is the size of the vector
    const auto room = static_cast<std::uint64_t>(call.args[2]);
    bytes = static_cast<std::uint64_t>(result) < room ? static_cast<std::uint64_t>(result) : room;
  } else if (option.number == PR_SET_MM && call.args[1] == PR_SET_MM_MAP_SIZE) {
    argument = 2;
    bytes = sizeof(std::uint32_t);
  } else if (option.number == kSchedCore && call.args[1] != 0 /* PR_SCHED_CORE_GET */) {
    bytes = 0;
  }
  return {static_cast<std::uint64_t>(call.args[argument]), bytes};
}

// The first process dies with the supervisor unless it asks for something else (supervisor/target/target.cc); the
// program does not see that.
void hide_death_signal(const Call& call) {
  static bool is_own;
  is_own = is_own || call.args[0] == PR_SET_PDEATHSIG;
  if (call.args[0] != PR_GET_PDEATHSIG || process().index != 0 || is_own) return;
  auto& number = *reinterpret_cast<std::int32_t*>(call.args[1]);
  if (number == SIGKILL) number = 0;  // it was set before exec
}

long make_and_log(Call& call, const Option& known) {
  const long result = sys(SYS_prctl, known.number, call.args[1], call.args[2], call.args[3], call.args[4]);
  if (result == 0) hide_death_signal(call);
  const Output output = output_of(call, known, result);
  log_call(call, result, &output, !is_error(result) && output.bytes != 0 ? 1 : 0);
  return result;
}

}  // namespace

long handle_prctl(Call& call) {
  const long option = call.args[0];
  const Option known = option_of(option);
  use_arguments(call, known.arguments);
  if (option == PR_SET_SYSCALL_USER_DISPATCH) {  // the core uses it; for the program it is off
    const bool off = call.args[1] == PR_SYS_DISPATCH_OFF && call.args[2] == 0 && call.args[3] == 0 && call.args[4] == 0;
    return complete(call, off ? 0 : -EINVAL);
  }
  if (option == PR_GET_TID_ADDRESS) {
    *reinterpret_cast<std::uint64_t*>(call.args[1]) = call.me.clear_child_tid;
    return complete(call, 0);
  }
  if (option == PR_SET_TSC) {
    const bool valid = call.args[1] == PR_TSC_ENABLE || call.args[1] == PR_TSC_SIGSEGV;
    if (valid) call.me.tsc_faults = call.args[1] == PR_TSC_SIGSEGV ? 1 : 0;
    return complete(call, valid ? 0 : -EINVAL);
  }
  if (option == PR_GET_TSC) {
    *reinterpret_cast<std::int32_t*>(call.args[1]) = call.me.tsc_faults != 0 ? PR_TSC_SIGSEGV : PR_TSC_ENABLE;
    return complete(call, 0);
  }
  if (option == kSetMdwe || option == kGetMdwe) return memory_deny_write_execute(call);
  if (option == PR_SET_SECCOMP) return set_seccomp(call, call.args[1], call.args[2]);
  if (option == PR_GET_SECCOMP && call.me.seccomp != 0) return complete(call, seccomp_mode(call.me));
  if (!live()) {
    if (performed_always(option)) sys(SYS_prctl, option, call.args[1], call.args[2], call.args[3], call.args[4]);
    return answered_call(call);
  }
  return make_and_log(call, known);
}

// Answers the options that only read, and those whose effect is limited to the process itself: its name, and whether
// debuggers may attach.
bool explore_prctl(Call& call, long& result) {
  constexpr long kAsked[] = {PR_GET_NAME,     PR_GET_DUMPABLE,   PR_GET_PDEATHSIG,       PR_GET_NO_NEW_PRIVS,
                             PR_GET_KEEPCAPS, PR_GET_TIMERSLACK, PR_GET_CHILD_SUBREAPER, PR_GET_SECCOMP,
                             PR_SET_NAME,     PR_SET_DUMPABLE,   PR_SET_PTRACER};
  if (std::find(std::begin(kAsked), std::end(kAsked), call.args[0]) == std::end(kAsked)) return false;
  const bool hides = call.args[0] == PR_SET_DUMPABLE;  // not made: the supervisor must be able to read a run's memory
  return result = hides ? complete(call, 0) : make_and_log(call, option_of(call.args[0])), true;
}

// READ_IMPLIES_EXEC affects every later mapping.
long handle_personality(Call& call) {
  if (!live()) sys(SYS_personality, call.args[0]);
  const long result = live() ? recorded_call(call) : answered_call(call);
  note_personality();
  return result;
}

namespace {

Thread* thread_of(Call& call) { return call.args[0] == 0 ? &call.me : thread_by_tid(call.args[0]); }

// Sets the thread's affinity to the processors in `wanted` that the target may see. Fails with EINVAL if there are
// none.
long set_affinity(Thread& thread, const std::uint64_t* wanted, std::uint64_t bytes) {
  std::uint64_t chosen[16] = {};
  memcpy(chosen, wanted, bytes < sizeof chosen ? bytes : sizeof chosen);
  std::uint64_t any = 0;
  for (int i = 0; i < 16; i++) any |= chosen[i] &= config().affinity[i];
  if (any == 0) return -EINVAL;
  memcpy(thread.affinity, chosen, sizeof chosen);
  thread.affinity_bytes = config().affinity_bytes;
  return 0;
}

}  // namespace

// All threads of the tree share one processor. The target sees the processors that the user gave it; its requests are
// answered, but not carried out.
long handle_sched_setaffinity(Call& call) {
  const auto room = static_cast<std::uint64_t>(call.args[1]);
  const auto* mask = reinterpret_cast<const std::uint64_t*>(call.args[2]);
  if (replaying()) {
    const long result = inject(call);
    Thread* thread = thread_of(call);
    if (thread != nullptr && result == 0) set_affinity(*thread, mask, room);
    return result;
  }
  Thread* thread = thread_of(call);
  return complete(call, thread != nullptr ? set_affinity(*thread, mask, room)
                                          : sys(SYS_sched_setaffinity, call.args[0], room, mask));
}

long handle_sched_getaffinity(Call& call) {
  if (replaying()) return inject(call);
  const Thread* thread = thread_of(call);
  if (thread == nullptr) return recorded_call(call);
  const auto room = static_cast<std::uint64_t>(call.args[1]);
  std::uint64_t real[16];  // the kernel decides how much room is required
  const long bytes = sys(SYS_sched_getaffinity, 0, room < sizeof real ? room : sizeof real, real);
  const Output output = {static_cast<std::uint64_t>(call.args[2]), static_cast<std::uint64_t>(bytes)};
  if (!is_error(bytes))
    memcpy(reinterpret_cast<void*>(call.args[2]), thread->affinity_bytes != 0 ? thread->affinity : config().affinity,
           output.bytes);
  log_call(call, bytes, &output, is_error(bytes) ? 0 : 1);
  return bytes;
}

}  // namespace reweave::core
