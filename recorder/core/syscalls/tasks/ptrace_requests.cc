#include "recorder/core/syscalls/tasks/ptrace_requests.h"

#include <fcntl.h>
#include <linux/elf.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/ptrace/trace_registers.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/memory/process_memory.h"

namespace reweave::core::requests {

namespace {

constexpr std::uint64_t kUserBytes = 928;       // the kernel's struct user, with two words that user.h lacks
constexpr std::uint64_t kDebugRegisters = 848;  // u_debugreg in it
constexpr std::uint64_t kDebugRegistersEnd = kDebugRegisters + 8 * 8;

struct IoVector {
  std::uint64_t base;
  std::uint64_t bytes;
};

template <typename T>
T& at(std::uint64_t address) {
  return *reinterpret_cast<T*>(address);
}

long tell_data(Call& call, const void* data, std::uint64_t bytes) {
  if (!replaying()) memcpy(reinterpret_cast<void*>(data_of(call)), data, bytes);
  const Output output = {data_of(call), bytes};
  return tell(call, 0, &output, 1);
}

// Reads or writes a word of the tracee's memory, regardless of its protection. False if it is not mapped or is the
// core's.
bool move_word(const Tracee& tracee, long number, std::uint64_t address, void* word) {
  const long memory = open_memory(state().processes[tracee.process]);
  if (is_error(memory)) return false;
  const bool ours = address >= kCoreBase && address < kOursEnd;
  const long moved = ours ? -EIO : sys(number, memory, word, 8, address);
  sys(SYS_close, memory);
  return moved == 8;
}

bool is_user_offset(std::uint64_t offset) { return offset % 8 == 0 && offset < kUserBytes; }

// Sets registers from the first on, up to a value that must not be set.
long set_registers(Tracee& tracee, const std::uint64_t* values, std::uint64_t count) {
  for (std::uint32_t i = 0; i < count && i < kUserRegisters; i++) {
    if (!may_set(i, values[i])) return -EIO;
    set_register(tracee, i, values[i]);
  }
  return 0;
}

// Size of a register set; 0 if there is no such set.
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

long write_register_set(Tracee& tracee, std::uint64_t type, const IoVector& vector, std::uint64_t bytes) {
  if (type == NT_PRSTATUS) return set_registers(tracee, &at<std::uint64_t>(vector.base), bytes / 8);
  const auto* from = &at<std::uint8_t>(vector.base);
  if (type == NT_PRFPREG) return bytes == kFpRegistersBytes && write_fp_registers(tracee, from) ? 0 : -EINVAL;
  if (vector.bytes != xstate_bytes(tracee)) return -EFAULT;
  if (!xstate_is_valid(tracee, from, bytes)) return -EINVAL;
  write_xstate(tracee, from, bytes);
  return 0;
}

bool has_siginfo(const Tracee& tracee) { return tracee.stop != StopKind::kGroup || tracee.seized != 0; }

}  // namespace

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

long peek_user(Call& call, Tracee& tracee) {
  const std::uint64_t offset = address_of(call);
  if (!is_user_offset(offset)) return complete(call, -EIO);
  const std::uint64_t index = offset / 8;
  const std::uint64_t word = index < kUserRegisters ? tracee.registers[index] : 0;
  return tell_data(call, &word, sizeof word);
}

long poke_user(Call& call, Tracee& tracee) {
  const std::uint64_t offset = address_of(call), value = data_of(call);
  if (!is_user_offset(offset) || offset >= kDebugRegistersEnd) return complete(call, -EIO);
  // Hardware breakpoints are not available: only a value that turns them off is accepted.
  if (offset >= kDebugRegisters) return complete(call, value == 0 ? 0 : -EINVAL);
  const auto index = static_cast<std::uint32_t>(offset / 8);
  if (index >= kUserRegisters) return complete(call, -EIO);
  if (!may_set(index, value)) return complete(call, -EIO);
  set_register(tracee, index, value);
  return complete(call, 0);
}

long get_registers(Call& call, Tracee& tracee) { return tell_data(call, tracee.registers, sizeof tracee.registers); }

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

long get_register_set(Call& call, Tracee& tracee) {
  if (address_of(call) == NT_386_IOPERM && at<IoVector>(data_of(call)).bytes % 8 == 0) return complete(call, -ENXIO);
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

long set_register_set(Call& call, Tracee& tracee) {
  if (address_of(call) == NT_386_IOPERM && at<IoVector>(data_of(call)).bytes % 8 == 0)
    return complete(call, -EOPNOTSUPP);
  const std::uint64_t room = set_bytes(tracee, address_of(call));
  IoVector& vector = at<IoVector>(data_of(call));
  if (room == 0 || vector.bytes % 8 != 0) return complete(call, -EINVAL);
  const std::uint64_t bytes = vector.bytes < room ? vector.bytes : room;
  const long result = write_register_set(tracee, address_of(call), vector, bytes);
  vector.bytes = bytes;
  return complete(call, result);
}

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

long set_options(Call& call, Tracee& tracee) {
  if ((data_of(call) & ~kTraceOptions) != 0) return complete(call, -EINVAL);
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
  const bool by_filter = tracee.code == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
  if (tracee.stop == StopKind::kSyscallEntry || by_filter) {
    info.op = by_filter ? PTRACE_SYSCALL_INFO_SECCOMP : PTRACE_SYSCALL_INFO_ENTRY;
    info.seccomp.nr = tracee.registers[kOrigRax];
    constexpr UserRegister kArguments[] = {kRdi, kRsi, kRdx, kR10, kR8, kR9};
    for (int i = 0; i < 6; i++) info.seccomp.args[i] = tracee.registers[kArguments[i]];
    if (by_filter) info.seccomp.ret_data = static_cast<std::uint32_t>(tracee.message);
    bytes = by_filter ? offsetof(struct ptrace_syscall_info, seccomp.ret_data) + sizeof info.seccomp.ret_data
                      : bytes + sizeof info.entry;
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

}  // namespace reweave::core::requests
