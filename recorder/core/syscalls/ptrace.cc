// ptrace(2), carried out by the core for tracers and tracees of the tree (recorder/core/tracing.h). What changes a
// tracee is done in every mode; what tells of it is recorded.
#include <fcntl.h>
#include <linux/elf.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/deadlock.h"
#include "recorder/core/kernel_signals.h"
#include "recorder/core/process.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/process_memory.h"
#include "recorder/core/syscalls/robust.h"
#include "recorder/core/trace_registers.h"
#include "recorder/core/tracing.h"
#include "recorder/core/waits.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kUserBytes = 912;       // struct user (sys/user.h)
constexpr std::uint64_t kDebugRegisters = 848;  // u_debugreg in it
constexpr std::uint64_t kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE |
                                   PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;

struct IoVector {
  std::uint64_t base;
  std::uint64_t bytes;
};

template <typename T>
T& at(std::uint64_t address) {
  return *reinterpret_cast<T*>(address);
}

std::uint64_t address_of(const Call& call) { return static_cast<std::uint64_t>(call.args[2]); }
std::uint64_t data_of(const Call& call) { return static_cast<std::uint64_t>(call.args[3]); }

// What a request tells: recorded, and found there again.
long tell(Call& call, long result, const Output* outputs, std::uint32_t count) {
  if (replaying()) return inject(call);
  log_call(call, result, outputs, count);
  return result;
}

long tell_data(Call& call, const void* data, std::uint64_t bytes) {
  if (!replaying()) memcpy(reinterpret_cast<void*>(data_of(call)), data, bytes);
  const Output output = {data_of(call), bytes};
  return tell(call, 0, &output, 1);
}

// ---- memory ----

// A word of the tracee's memory, whatever its protection. False: there is none.
bool move_word(const Tracee& tracee, long number, std::uint64_t address, void* word) {
  const long memory = open_memory(state().processes[tracee.process]);
  if (is_error(memory)) return false;
  const bool ours = address >= kCoreBase && address < kOursEnd;
  const long moved = ours ? -EIO : sys(number, memory, word, 8, address);
  sys(SYS_close, memory);
  return moved == 8;
}

long peek(Call& call, Tracee& tracee) {
  if (replaying()) return inject(call);
  std::uint64_t word = 0;
  if (!move_word(tracee, SYS_pread64, address_of(call), &word)) return tell(call, -EIO, nullptr, 0);
  return tell_data(call, &word, sizeof word);
}

long poke(Call& call, Tracee& tracee) {
  const std::uint64_t word = data_of(call);
  return complete(call,
                  move_word(tracee, SYS_pwrite64, address_of(call), const_cast<std::uint64_t*>(&word)) ? 0 : -EIO);
}

// ---- registers ----

bool is_user_offset(std::uint64_t offset) { return offset % 8 == 0 && offset < kUserBytes; }

long peek_user(Call& call, Tracee& tracee) {
  const std::uint64_t offset = address_of(call);
  if (!is_user_offset(offset)) return complete(call, -EIO);
  const std::uint64_t index = offset / 8;
  const std::uint64_t word = index < kUserRegisters ? tracee.registers[index] : 0;
  return tell_data(call, &word, sizeof word);
}

long poke_user(Call& call, Tracee& tracee) {
  const std::uint64_t offset = address_of(call), value = data_of(call);
  if (!is_user_offset(offset)) return complete(call, -EIO);
  // There are no breakpoints of the processor's to be had: nothing but what turns them off is taken.
  if (offset >= kDebugRegisters) return complete(call, value == 0 ? 0 : -EINVAL);
  const auto index = static_cast<std::uint32_t>(offset / 8);
  if (index >= kUserRegisters) return complete(call, 0);
  if (!may_set(index, value)) return complete(call, -EIO);
  set_register(tracee, index, value);
  return complete(call, 0);
}

long get_registers(Call& call, Tracee& tracee) { return tell_data(call, tracee.registers, sizeof tracee.registers); }

// Registers from the first on; a value that may not be set ends it.
long set_registers(Tracee& tracee, const std::uint64_t* values, std::uint64_t count) {
  for (std::uint32_t i = 0; i < count && i < kUserRegisters; i++) {
    if (!may_set(i, values[i])) return -EIO;
    set_register(tracee, i, values[i]);
  }
  return 0;
}

long set_all_registers(Call& call, Tracee& tracee) {
  return complete(call, set_registers(tracee, &at<std::uint64_t>(data_of(call)), kUserRegisters));
}

long get_fp_registers(Call& call, Tracee& tracee) {
  std::uint8_t registers[kFpRegistersBytes];
  read_fp_registers(tracee, registers);
  return tell_data(call, registers, sizeof registers);
}

long set_fp_registers(Call& call, Tracee& tracee) {
  return complete(call, write_fp_registers(tracee, &at<std::uint8_t>(data_of(call))) ? 0 : -EINVAL);
}

// Bytes of a register set; 0: there is no such set.
std::uint64_t set_bytes(const Tracee& tracee, std::uint64_t type) {
  switch (type) {
    case NT_PRSTATUS:
      return sizeof tracee.registers;
    case NT_PRFPREG:
      return kFpRegistersBytes;
    case NT_X86_XSTATE:
      return xstate_bytes(tracee);
    default:
      return 0;
  }
}

long get_register_set(Call& call, Tracee& tracee) {
  const std::uint64_t room = set_bytes(tracee, address_of(call));
  IoVector& vector = at<IoVector>(data_of(call));
  if (room == 0 || vector.bytes % 8 != 0) return complete(call, -EINVAL);
  if (replaying()) return inject(call);
  const std::uint64_t bytes = vector.bytes < room ? vector.bytes : room;
  static std::uint8_t set[kMaxFpStateBytes];
  if (address_of(call) == NT_PRSTATUS)
    memcpy(set, tracee.registers, sizeof tracee.registers);
  else if (address_of(call) == NT_PRFPREG)
    read_fp_registers(tracee, set);
  else
    read_xstate(tracee, set, room);
  memcpy(reinterpret_cast<void*>(vector.base), set, bytes);
  vector.bytes = bytes;
  const Output outputs[] = {{vector.base, bytes}, {data_of(call), sizeof vector}};
  return tell(call, 0, outputs, 2);
}

long write_register_set(Tracee& tracee, std::uint64_t type, const IoVector& vector, std::uint64_t bytes) {
  if (type == NT_PRSTATUS) return set_registers(tracee, &at<std::uint64_t>(vector.base), bytes / 8);
  const auto* from = &at<std::uint8_t>(vector.base);
  if (type == NT_PRFPREG) return bytes == kFpRegistersBytes && write_fp_registers(tracee, from) ? 0 : -EINVAL;
  if (vector.bytes != xstate_bytes(tracee)) return -EFAULT;
  if (!xstate_is_valid(tracee, from, bytes)) return -EINVAL;
  write_xstate(tracee, from, bytes);
  return 0;
}

long set_register_set(Call& call, Tracee& tracee) {
  const std::uint64_t room = set_bytes(tracee, address_of(call));
  IoVector& vector = at<IoVector>(data_of(call));
  if (room == 0 || vector.bytes % 8 != 0) return complete(call, -EINVAL);
  const std::uint64_t bytes = vector.bytes < room ? vector.bytes : room;
  const long result = write_register_set(tracee, address_of(call), vector, bytes);
  vector.bytes = bytes;
  return complete(call, result);
}

// ---- signals ----

bool has_siginfo(const Tracee& tracee) { return tracee.stop != StopKind::kGroup || tracee.seized != 0; }

long get_siginfo(Call& call, Tracee& tracee) {
  return has_siginfo(tracee) ? tell_data(call, tracee.info, sizeof tracee.info) : complete(call, -EINVAL);
}

long set_siginfo(Call& call, Tracee& tracee) {
  if (!has_siginfo(tracee)) return complete(call, -EINVAL);
  memcpy(tracee.info, &at<std::uint8_t>(data_of(call)), sizeof tracee.info);
  return complete(call, 0);
}

long get_signal_mask(Call& call, Tracee& tracee) {
  const std::uint64_t mask = thread_of(tracee.thread).signal_mask;
  return address_of(call) == sizeof mask ? tell_data(call, &mask, sizeof mask) : complete(call, -EINVAL);
}

long set_signal_mask(Call& call, Tracee& tracee) {
  if (address_of(call) != sizeof(std::uint64_t)) return complete(call, -EINVAL);
  const std::uint64_t mask = at<std::uint64_t>(data_of(call));
  thread_of(tracee.thread).signal_mask = mask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
  return complete(call, 0);
}

// ---- what a stop is about ----

long set_options(Call& call, Tracee& tracee) {
  if ((data_of(call) & ~kOptions) != 0) return complete(call, -EINVAL);
  tracee.options = static_cast<std::uint32_t>(data_of(call));
  return complete(call, 0);
}

long get_event_message(Call& call, Tracee& tracee) { return tell_data(call, &tracee.message, sizeof tracee.message); }

long get_syscall_info(Call& call, Tracee& tracee) {
  struct ptrace_syscall_info info = {};
  info.arch = 0xc000003e;  // AUDIT_ARCH_X86_64
  info.instruction_pointer = tracee.registers[kRip];
  info.stack_pointer = tracee.registers[kRsp];
  std::uint64_t bytes = offsetof(struct ptrace_syscall_info, entry);
  if (tracee.stop == StopKind::kSyscallEntry) {
    info.op = PTRACE_SYSCALL_INFO_ENTRY;
    info.entry.nr = tracee.registers[kOrigRax];
    constexpr UserRegister kArguments[] = {kRdi, kRsi, kRdx, kR10, kR8, kR9};
    for (int i = 0; i < 6; i++) info.entry.args[i] = tracee.registers[kArguments[i]];
    bytes += sizeof info.entry;
  } else if (tracee.stop == StopKind::kSyscallExit) {
    info.op = PTRACE_SYSCALL_INFO_EXIT;
    info.exit.rval = static_cast<std::int64_t>(tracee.registers[kRax]);
    info.exit.is_error = is_error(info.exit.rval) ? 1 : 0;
    bytes = offsetof(struct ptrace_syscall_info, exit.is_error) + sizeof info.exit.is_error;
  }
  const std::uint64_t room = address_of(call) < bytes ? address_of(call) : bytes;
  if (!replaying()) memcpy(reinterpret_cast<void*>(data_of(call)), &info, room);
  const Output output = {data_of(call), room};
  return tell(call, static_cast<long>(bytes), &output, room != 0 ? 1 : 0);
}

// ---- going on ----

void resume(Tracee& tracee, ResumeMode mode, std::int32_t signal) {
  tracee.mode = mode;
  tracee.signal = signal;
  tracee.stop = StopKind::kNone;
  wake(WaitKind::kTracer, tracee.thread, 1);
}

// The kernel ends the process; after the call, a replay finds the record of that.
long kill_tracee(Call& call, Tracee& tracee) {
  const Process& target = state().processes[tracee.process];
  if (replaying()) return complete(call, 0);
  release_robust_of(target);
  sys(SYS_kill, target.real_pid, SIGKILL);
  log_call(call, 0, nullptr, 0);
  forget_process(target.index, SIGKILL);
  log_death(target, SIGKILL);
  return 0;
}

long resume_in(Call& call, Tracee& tracee, ResumeMode mode) {
  const std::uint64_t signal = data_of(call);
  if (signal > kSignalCount) return complete(call, -EIO);
  if (signal == SIGKILL) return kill_tracee(call, tracee);
  resume(tracee, mode, static_cast<std::int32_t>(signal));
  return complete(call, 0);
}

long go_on(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kContinue); }
long go_to_call(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kSyscall); }
long go_a_step(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kStep); }
long emulate_calls(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kEmulate); }
long emulate_a_step(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kEmulateStep); }

long detach(Call& call, Tracee& tracee) {
  if (data_of(call) > kSignalCount) return complete(call, -EIO);
  tracee.signal = static_cast<std::int32_t>(data_of(call));
  tracee.mode = ResumeMode::kContinue;
  end_tracing(tracee);
  return complete(call, 0);
}

long kill(Call& call, Tracee& tracee) { return kill_tracee(call, tracee); }

long interrupt(Call& call, Tracee& tracee) {
  if (tracee.seized == 0) return complete(call, -EIO);
  const bool waits = tracee.stop != StopKind::kNone;
  if (waits && tracee.listening != 0) {
    restart_group_stop(tracee);
  } else if (!waits) {
    ask_to_stop(tracee, nullptr);
  }
  return complete(call, 0);
}

long listen(Call& call, Tracee& tracee) {
  if (tracee.seized == 0 || tracee.stop != StopKind::kGroup) return complete(call, -EIO);
  tracee.listening = 1;
  return complete(call, 0);
}

// ---- whom to trace ----

long trace_me(Call& call) {
  Thread& me = call.me;
  Process& here = process();
  if (me.tracee != 0 || here.traced_outside != 0) return complete(call, -EPERM);
  Thread* creator = nullptr;
  RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    Thread& thread = s.threads[s.live[i]];
    if (here.index == 0 || thread.process != here.parent || s.processes[here.parent].alive == 0) continue;
    if (creator == nullptr || thread.id == here.creator) creator = &thread;
  }
  if (creator == nullptr) {  // whoever started the tree: it is told nothing
    here.traced_outside = 1;
    return complete(call, 0);
  }
  if (begin_tracing(me, *creator, false) == nullptr) return complete(call, -EPERM);
  follow_tracing();
  return complete(call, 0);
}

// Somebody outside of the tree, or nobody.
long refuse_outsider(Call& call) {
  if (replaying()) return inject(call);
  const long found = sys(SYS_kill, call.args[1], 0);
  const long result = found == -ESRCH || call.args[1] <= 0 ? -ESRCH : -EPERM;
  log_call(call, result, nullptr, 0);
  return result;
}

long attach(Call& call) {
  const bool seizes = call.args[0] == PTRACE_SEIZE;
  const std::uint64_t options = seizes ? data_of(call) : 0;
  if (seizes && (address_of(call) != 0 || (options & ~kOptions) != 0)) return complete(call, -EIO);
  Thread* target = thread_by_tid(call.args[1]);
  if (target == nullptr) return refuse_outsider(call);
  const bool is_traced_outside = state().processes[target->process].traced_outside != 0;
  if (target->process == call.me.process || target->tracee != 0 || is_traced_outside) return complete(call, -EPERM);
  Tracee* tracee = begin_tracing(*target, call.me, seizes);
  if (tracee == nullptr) return complete(call, -EPERM);
  tracee->options = static_cast<std::uint32_t>(options);
  if (live()) {
    const std::int32_t info[32] = {SIGSTOP, 0, 0x80 /* SI_KERNEL */};
    seizes ? kick(*target) : ask_to_stop(*tracee, info);
    await_readiness(*tracee);
  }
  return complete(call, 0);
}

// ---- the table ----

enum class Needs : std::uint8_t { kStopped, kTracee };

struct Request {
  long number;
  int arguments;  // of the call, that mean something
  Needs needs;
  long (*carry_out)(Call&, Tracee&);
};

constexpr Request kRequests[] = {
    {PTRACE_PEEKTEXT, 4, Needs::kStopped, peek},
    {PTRACE_PEEKDATA, 4, Needs::kStopped, peek},
    {PTRACE_PEEKUSR, 4, Needs::kStopped, peek_user},
    {PTRACE_POKETEXT, 4, Needs::kStopped, poke},
    {PTRACE_POKEDATA, 4, Needs::kStopped, poke},
    {PTRACE_POKEUSR, 4, Needs::kStopped, poke_user},
    {PTRACE_CONT, 4, Needs::kStopped, go_on},
    {PTRACE_KILL, 2, Needs::kTracee, kill},
    {PTRACE_SINGLESTEP, 4, Needs::kStopped, go_a_step},
    {PTRACE_GETREGS, 4, Needs::kStopped, get_registers},
    {PTRACE_SETREGS, 4, Needs::kStopped, set_all_registers},
    {PTRACE_GETFPREGS, 4, Needs::kStopped, get_fp_registers},
    {PTRACE_SETFPREGS, 4, Needs::kStopped, set_fp_registers},
    {PTRACE_DETACH, 4, Needs::kStopped, detach},
    {PTRACE_SYSCALL, 4, Needs::kStopped, go_to_call},
    {PTRACE_SYSEMU, 4, Needs::kStopped, emulate_calls},
    {PTRACE_SYSEMU_SINGLESTEP, 4, Needs::kStopped, emulate_a_step},
    {PTRACE_SETOPTIONS, 4, Needs::kStopped, set_options},
    {PTRACE_GETEVENTMSG, 4, Needs::kStopped, get_event_message},
    {PTRACE_GETSIGINFO, 4, Needs::kStopped, get_siginfo},
    {PTRACE_SETSIGINFO, 4, Needs::kStopped, set_siginfo},
    {PTRACE_GETREGSET, 4, Needs::kStopped, get_register_set},
    {PTRACE_SETREGSET, 4, Needs::kStopped, set_register_set},
    {PTRACE_INTERRUPT, 2, Needs::kTracee, interrupt},
    {PTRACE_LISTEN, 2, Needs::kStopped, listen},
    {PTRACE_GETSIGMASK, 4, Needs::kStopped, get_signal_mask},
    {PTRACE_SETSIGMASK, 4, Needs::kStopped, set_signal_mask},
    {PTRACE_GET_SYSCALL_INFO, 4, Needs::kStopped, get_syscall_info},
};

const Request* find_request(long number) {
  for (const Request& request : kRequests)
    if (request.number == number) return &request;
  return nullptr;
}

// The tracee of the calling thread with that id; null: it has none.
Tracee* tracee_by_tid(const Thread& me, long tid) {
  for (Tracee& tracee : state().tracees) {
    if (tracee.in_use != kTraced || tracee.dead != 0 || tracee.tid != tid) continue;
    return tracee.tracer == me.id ? &tracee : nullptr;
  }
  return nullptr;
}

}  // namespace

long handle_ptrace(Call& call) {
  if (modelled())
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: explored runs cannot trace processes yet");
  const long number = call.args[0];
  if (number == PTRACE_TRACEME) {
    use_arguments(call, 1);
    return trace_me(call);
  }
  if (number == PTRACE_ATTACH || number == PTRACE_SEIZE) {
    use_arguments(call, number == PTRACE_SEIZE ? 4 : 2);
    return attach(call);
  }
  const Request* request = find_request(number);
  use_arguments(call, request != nullptr ? request->arguments : 2);
  Tracee* tracee = tracee_by_tid(call.me, call.args[1]);
  if (tracee == nullptr) return complete(call, -ESRCH);
  const bool stands = tracee->stop != StopKind::kNone && tracee->listening == 0;
  if (!stands && (request == nullptr || request->needs == Needs::kStopped)) return complete(call, -ESRCH);
  return request == nullptr ? complete(call, -EIO) : request->carry_out(call, *tracee);
}

}  // namespace reweave::core
