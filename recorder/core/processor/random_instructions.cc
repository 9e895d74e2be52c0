#include "recorder/core/processor/random_instructions.h"

#include <sys/syscall.h>

#include "recorder/core/code/instruction.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"
#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kArithmeticFlags = 0x8d5;
constexpr std::uint64_t kCarryFlag = 1;

bool is_rex(std::uint8_t byte) { return (byte & 0xf0) == 0x40; }

// Length of the instruction at `code` if it leaves the flags alone: a move, an extension, `lea` or a nop; 0 for others.
std::uint64_t flagless_bytes(const std::uint8_t* code) {
  const std::uint8_t* opcode = code;
  if (*opcode == 0x66) opcode++;
  if (is_rex(*opcode)) opcode++;
  const bool moves = (opcode[0] & 0xfc) == 0x88 || (opcode[0] & 0xf0) == 0xb0 || (opcode[0] & 0xfe) == 0xc6;
  const bool extends = opcode[0] == 0x63 || (opcode[0] == 0x0f && (opcode[1] & 0xf6) == 0xb6);
  const bool is_nothing = opcode[0] == 0x90 || (opcode[0] == 0x0f && opcode[1] == 0x1f);
  return moves || extends || is_nothing || opcode[0] == 0x8d ? decode(code).bytes : 0;
}

// True if the instruction at `code` reads the carry flag: jc, jnc, setc, setnc, cmovc, cmovnc, adc or sbb.
bool asks_carry(const std::uint8_t* code) {
  if ((code[0] & 0xfe) == 0x72) return true;
  if (is_rex(code[0])) code++;
  const std::uint8_t kind = code[1] & 0xfe;
  if (code[0] == 0x0f) return kind == 0x82 || kind == 0x92 || kind == 0x42;
  if (code[0] == 0x83) return (code[1] & 0xf8) == 0xd0 || (code[1] & 0xf8) == 0xd8;
  const bool registers = (code[1] & 0xc0) == 0xc0;
  return registers && (code[0] == 0x11 || code[0] == 0x13 || code[0] == 0x19 || code[0] == 0x1b);
}

// True if the carry flag is read before anything changes it. Compilers schedule other instructions in between.
bool carry_is_asked(const std::uint8_t* code) {
  constexpr int kInBetween = 3;
  for (int i = 0; i <= kInBetween; i++) {
    if (asks_carry(code)) return true;
    const std::uint64_t bytes = flagless_bytes(code);
    if (bytes == 0) return false;
    code += bytes;
  }
  return false;
}

// In the format of the vDSO's segment, which RDPID reads: the node above the processor.
std::uint64_t processor_now() {
  std::uint32_t processor = 0, node = 0;
  if (!modelled()) sys(SYS_getcpu, &processor, &node, 0);
  return processor | node << 12;
}

std::uint64_t random_now() {
  std::uint64_t value = static_cast<std::uint64_t>(state().virtual_now += 1'000) * 0x9e3779b97f4a7c15;
  if (!modelled()) sys(SYS_getrandom, &value, sizeof value, 0);
  return value;
}

bool emulate(KernelContext& context, const Trapped& trapped) {
  auto& r = context.registers;
  const bool is_rdpid = trapped.source == wire::InputSource::kRdpid;
  arm();
  const auto ask = [is_rdpid] { return InputValues{{is_rdpid ? processor_now() : random_now()}}; };
  const std::uint64_t value = input(trapped.source, ask).value[0];
  std::uint64_t& target = numbered_register(r, trapped.target);
  if (trapped.width == 16)
    target = (target & ~std::uint64_t{0xffff}) | (value & 0xffff);
  else
    target = trapped.width == 32 ? value & 0xffffffff : value;
  if (!is_rdpid) r.eflags = (r.eflags & ~kArithmeticFlags) | kCarryFlag;
  r.rip += trapped.bytes;
  arm();
  return true;
}

}  // namespace

std::uint64_t& numbered_register(KernelRegisters& r, std::uint8_t number) {
  std::uint64_t* const kInOrder[] = {&r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rsp, &r.rbp, &r.rsi, &r.rdi,
                                     &r.r8,  &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15};
  return *kInOrder[number & 15];
}

bool trap_random_instruction(std::uint64_t at) {
  const std::uint8_t* code = code_at(at);
  const std::uint8_t operand = code[2];
  if (code[1] != 0xc7 || operand < 0xf0) return false;  // register operand: /6 RDRAND, /7 RDSEED, f3 /7 RDPID
  const std::uint8_t rex = is_rex(code[-1]) ? code[-1] : 0;
  const std::uint64_t prefixes = rex != 0 ? 1 : 0;
  const std::uint8_t first = code[-1 - static_cast<long>(prefixes)];
  const bool is_short = first == 0x66, is_rdpid = first == 0xf3 && operand >= 0xf8;
  if (!is_rdpid && !carry_is_asked(code + 3)) return false;
  Trapped trapped = {};
  trapped.start = at - prefixes - (is_short || is_rdpid ? 1 : 0);
  trapped.bytes = static_cast<std::uint8_t>(at + 3 - trapped.start);
  trapped.opcode = static_cast<std::uint8_t>(at - trapped.start);
  trapped.width = (rex & 8) != 0 || is_rdpid ? 64 : is_short ? 16 : 32;
  trapped.target = static_cast<std::uint8_t>((operand & 7) + ((rex & 1) != 0 ? 8 : 0));
  trapped.source = is_rdpid          ? wire::InputSource::kRdpid
                   : operand >= 0xf8 ? wire::InputSource::kRdseed
                                     : wire::InputSource::kRdrand;
  trapped.emulate = emulate;
  return remember_trapped(trapped);
}

}  // namespace reweave::core
