#include "recorder/core/ptrace/trace_registers.h"

#include <asm/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/signals/fp_state.h"
#include "recorder/core/signals/signal_frames.h"

namespace reweave::core {

namespace {

// The tracee's registers that a frame holds; the kernel never changes the others.
struct Place {
  UserRegister index;
  std::uint64_t KernelRegisters::*member;
};
constexpr Place kPlaces[] = {
    {kR15, &KernelRegisters::r15}, {kR14, &KernelRegisters::r14}, {kR13, &KernelRegisters::r13},
    {kR12, &KernelRegisters::r12}, {kRbp, &KernelRegisters::rbp}, {kRbx, &KernelRegisters::rbx},
    {kR11, &KernelRegisters::r11}, {kR10, &KernelRegisters::r10}, {kR9, &KernelRegisters::r9},
    {kR8, &KernelRegisters::r8},   {kRax, &KernelRegisters::rax}, {kRcx, &KernelRegisters::rcx},
    {kRdx, &KernelRegisters::rdx}, {kRsi, &KernelRegisters::rsi}, {kRdi, &KernelRegisters::rdi},
    {kRip, &KernelRegisters::rip}, {kRsp, &KernelRegisters::rsp}, {kEflags, &KernelRegisters::eflags},
};

constexpr std::uint64_t kUserCode = 0x33, kUserStack = 0x2b;  // the selectors of 64-bit code and its stack
constexpr std::uint64_t kSettableFlags = 0x54dd5;             // FLAG_MASK in arch/x86/kernel/ptrace.c
constexpr std::uint64_t kAddressEnd = 0x7fff'ffff'f000;

// The legacy area of the floating-point state, the kernel's words in it, and the header of the extended state.
constexpr std::uint64_t kMxcsr = 24, kMxcsrMask = 28, kSoftware = 464, kLegacyBytes = 512, kHeaderEnd = 576;
constexpr std::uint64_t kFeaturesAt = 8, kSizeAt = 16;  // in the kernel's words
constexpr std::uint64_t kLegacyFeatures = 3;

std::uint32_t word_at(const std::uint8_t* from, std::uint64_t offset) {
  std::uint32_t word;
  memcpy(&word, from + offset, sizeof word);
  return word;
}

std::uint64_t features(const Tracee& tracee) {
  std::uint64_t all;
  memcpy(&all, tracee.fp_state + kSoftware + kFeaturesAt, sizeof all);
  return all;
}

bool control_is_valid(const Tracee& tracee, const std::uint8_t* from) {
  const std::uint32_t mask = word_at(tracee.fp_state, kMxcsrMask);
  return (word_at(from, kMxcsr) & ~(mask != 0 ? mask : 0xffbf)) == 0;
}

void add_features(Tracee& tracee, std::uint64_t more) {
  if (tracee.fp_bytes <= kHeaderEnd) return;
  std::uint64_t in_use;
  memcpy(&in_use, tracee.fp_state + kLegacyBytes, sizeof in_use);
  in_use |= more;
  memcpy(tracee.fp_state + kLegacyBytes, &in_use, sizeof in_use);
}

void write_legacy(Tracee& tracee, const std::uint8_t* from) {
  const std::uint32_t mask = word_at(tracee.fp_state, kMxcsrMask);
  memcpy(tracee.fp_state, from, kSoftware);
  memcpy(tracee.fp_state + kMxcsrMask, &mask, sizeof mask);
  add_features(tracee, kLegacyFeatures);
}

}  // namespace

void save_registers(Tracee& tracee, const KernelContext& context) {
  memset(tracee.registers, 0, sizeof tracee.registers);
  for (const Place& place : kPlaces) tracee.registers[place.index] = context.registers.*place.member;
  tracee.registers[kOrigRax] = static_cast<std::uint64_t>(tracee.call);
  tracee.registers[kCs] = kUserCode;
  tracee.registers[kSs] = kUserStack;
  sys(SYS_arch_prctl, ARCH_GET_FS, &tracee.registers[kFsBase]);
  const auto* fp = reinterpret_cast<const std::byte*>(context.registers.fp_state);
  tracee.fp_bytes = shown_fp_bytes(fp);
  if (tracee.fp_bytes > kMaxFpStateBytes) tracee.fp_bytes = 0;
  if (tracee.fp_bytes != 0) show_fp_state(reinterpret_cast<std::byte*>(tracee.fp_state), fp);
}

void restore_registers(const Tracee& tracee, KernelContext& context) {
  for (const Place& place : kPlaces) context.registers.*place.member = tracee.registers[place.index];
  std::uint64_t fs_base = 0;
  sys(SYS_arch_prctl, ARCH_GET_FS, &fs_base);
  if (tracee.registers[kFsBase] != fs_base) sys(SYS_arch_prctl, ARCH_SET_FS, tracee.registers[kFsBase]);
  if (tracee.fp_bytes < kLegacyBytes) return;
  auto* fp = reinterpret_cast<std::uint8_t*>(context.registers.fp_state);
  if (is_laid_out_otherwise(fp)) {
    const auto* from = reinterpret_cast<const std::byte*>(tracee.fp_state);
    restore_laid_out(reinterpret_cast<std::byte*>(fp), from, state().recorded_fp);
    return;
  }
  memcpy(fp, tracee.fp_state, kSoftware);
  if (tracee.fp_bytes > kHeaderEnd)
    memcpy(fp + kLegacyBytes, tracee.fp_state + kLegacyBytes, tracee.fp_bytes - kLegacyBytes);
}

bool may_set(std::uint32_t index, std::uint64_t value) {
  switch (index) {
    case kCs:
    case kSs:
      return (value & 3) == 3;  // the privilege of user code
    case kDs:
    case kEs:
    case kFs:
    case kGs:
      return value == 0 || (value & 3) == 3;
    case kFsBase:
    case kGsBase:
      return value < kAddressEnd;
    default:
      return index < kUserRegisters;
  }
}

void set_register(Tracee& tracee, std::uint32_t index, std::uint64_t value) {
  std::uint64_t& to = tracee.registers[index];
  if (index == kEflags)
    to = (to & ~kSettableFlags) | (value & kSettableFlags);
  else if (index < kCs || index == kRsp || index == kFsBase)
    to = value;
}

std::uint64_t xstate_bytes(const Tracee& tracee) {
  if (tracee.fp_bytes <= kHeaderEnd) return 0;
  return word_at(tracee.fp_state, kSoftware + kSizeAt);
}

void read_xstate(const Tracee& tracee, std::uint8_t* to, std::uint64_t bytes) {
  const std::uint64_t all = features(tracee);
  std::uint8_t software[kLegacyBytes - kSoftware] = {};
  memcpy(software, &all, sizeof all);
  memcpy(to, tracee.fp_state, bytes);
  if (bytes <= kSoftware) return;
  memcpy(to + kSoftware, software, bytes < kLegacyBytes ? bytes - kSoftware : sizeof software);
}

bool xstate_is_valid(const Tracee& tracee, const std::uint8_t* from, std::uint64_t bytes) {
  std::uint64_t in_use = 0;
  if (bytes < kHeaderEnd) return false;
  memcpy(&in_use, from + kLegacyBytes, sizeof in_use);
  return (in_use & ~features(tracee)) == 0 && control_is_valid(tracee, from);
}

void write_xstate(Tracee& tracee, const std::uint8_t* from, std::uint64_t bytes) {
  const std::uint32_t mask = word_at(tracee.fp_state, kMxcsrMask);
  memcpy(tracee.fp_state, from, kSoftware);
  memcpy(tracee.fp_state + kMxcsrMask, &mask, sizeof mask);
  memcpy(tracee.fp_state + kLegacyBytes, from + kLegacyBytes, bytes - kLegacyBytes);
}

void read_fp_registers(const Tracee& tracee, std::uint8_t* to) {
  memset(to, 0, kFpRegistersBytes);
  memcpy(to, tracee.fp_state, kSoftware);
}

bool write_fp_registers(Tracee& tracee, const std::uint8_t* from) {
  if (!control_is_valid(tracee, from)) return false;
  write_legacy(tracee, from);
  return true;
}

}  // namespace reweave::core
