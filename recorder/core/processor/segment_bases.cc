#include "recorder/core/processor/segment_bases.h"

#include <asm/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"
#include "recorder/core/processor/random_instructions.h"

namespace reweave::core {

namespace {

// f3 [REX] 0f ae operand
constexpr std::uint8_t kPrefix = 0xf3;
constexpr std::uint8_t kReads = 0xc8, kWrites = 0xd8;  // operand without the register

constexpr bool is_rex(std::uint8_t byte) { return (byte & 0xf0) == 0x40; }

constexpr bool is_operand(std::uint8_t byte) { return (byte & 0xf8) == kReads || (byte & 0xf8) == kWrites; }

}  // namespace

bool trap_gs_base(std::uint64_t at) {
  const std::uint8_t* code = code_at(at);
  const bool prefixed = code[-1] == kPrefix || (is_rex(code[-1]) && code[-2] == kPrefix);
  if (!prefixed || code[1] != 0xae || !is_operand(code[2])) return false;
  const Writable page(at, 2);
  if (page.done()) *reinterpret_cast<std::uint8_t*>(at + 1) = kPrivilegedOpcode;
  return true;
}

bool emulate_gs_base(KernelContext& context) {
  KernelRegisters& r = context.registers;
  if (code_region(r.rip) == nullptr) return false;
  const std::uint8_t* code = code_at(r.rip);
  if (code[0] != kPrefix) return false;
  const std::uint8_t rex = is_rex(code[1]) ? code[1] : 0;
  const std::uint8_t* rest = code + (rex != 0 ? 2 : 1);
  if (rest[0] != 0x0f || rest[1] != kPrivilegedOpcode || !is_operand(rest[2])) return false;
  const auto number = static_cast<std::uint8_t>((rest[2] & 7) + ((rex & 1) != 0 ? 8 : 0));
  std::uint64_t& value = numbered_register(r, number);
  const bool whole = (rex & 8) != 0;
  if ((rest[2] & 0xf8) == kReads)
    value = 0;
  else if ((whole ? value : value & 0xffffffff) != 0)
    stop_run(wire::OutcomeKind::kUnsupported, "wrgsbase: the program uses the GS register, which Reweave needs");
  r.rip += rex != 0 ? 5 : 4;
  return true;
}

// The thread is identified by the core stack that this runs on.
void check_gs_base() {
  std::uint64_t base = 0;
  sys(SYS_arch_prctl, ARCH_GET_GS, &base);
  if (base - reinterpret_cast<std::uint64_t>(state().threads) < sizeof state().threads) return;
  const std::uint64_t number = (reinterpret_cast<std::uint64_t>(&base) - kStacksBase) / kCoreStackBytes;
  sys(SYS_arch_prctl, ARCH_SET_GS, &thread_of(static_cast<ThreadId>(number)));
  stop_run(wire::OutcomeKind::kUnsupported, "the program loads the GS register, which Reweave needs");
}

}  // namespace reweave::core
