// Registers of a stopped tracee, copied between the frame through which it will return and its Tracee, where the tracer
// reads and writes them in the layouts of ptrace(2).
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Indices into Tracee::registers, in the order of struct user_regs_struct (sys/user.h).
enum UserRegister : std::uint32_t {
  kR15,
  kR14,
  kR13,
  kR12,
  kRbp,
  kRbx,
  kR11,
  kR10,
  kR9,
  kR8,
  kRax,
  kRcx,
  kRdx,
  kRsi,
  kRdi,
  kOrigRax,
  kRip,
  kCs,
  kEflags,
  kRsp,
  kSs,
  kFsBase,
  kGsBase,
  kDs,
  kEs,
  kFs,
  kGs
};

void save_registers(Tracee& tracee, const KernelContext& context);
// Takes over what the tracer may have changed; called by the tracee.
void restore_registers(const Tracee& tracee, KernelContext& context);

// Whether the kernel lets a tracer set this register to this value; false: EIO.
bool may_set(std::uint32_t index, std::uint64_t value);
// Sets those bits of the register that a tracer may set.
void set_register(Tracee& tracee, std::uint32_t index, std::uint64_t value);

// NT_X86_XSTATE: its size, and what a tracer reads and may write. `bytes`: size of the caller's memory.
std::uint64_t xstate_bytes(const Tracee& tracee);
void read_xstate(const Tracee& tracee, std::uint8_t* to, std::uint64_t bytes);
void write_xstate(Tracee& tracee, const std::uint8_t* from, std::uint64_t bytes);
// False: the processor would reject the values.
bool xstate_is_valid(const Tracee& tracee, const std::uint8_t* from, std::uint64_t bytes);

// NT_PRFPREG, struct user_fpregs_struct.
inline constexpr std::uint64_t kFpRegistersBytes = 512;
void read_fp_registers(const Tracee& tracee, std::uint8_t* to);
bool write_fp_registers(Tracee& tracee, const std::uint8_t* from);

}  // namespace reweave::core
