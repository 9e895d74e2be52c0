#include "recorder/core/random_instructions.h"

#include <sys/syscall.h>

#include "recorder/core/code_patterns.h"
#include "recorder/core/code_search.h"
#include "recorder/core/instruction.h"
#include "recorder/core/log.h"
#include "recorder/core/patching.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/segment_bases.h"
#include "recorder/core/stubs.h"
#include "recorder/core/vsyscalls.h"

namespace reweave::core {

namespace {

// InputRecord::source
enum class Source : std::uint32_t { kRdrand = 3, kRdseed = 4, kRdpid = 5 };

// One of them: [66 or f3] [REX] 0f c7 operand.
struct Place {
  std::uint64_t start;  // with its prefixes
  std::uint8_t bytes;
  std::uint8_t width;   // of the value in bits
  std::uint8_t target;  // number of the register, as instructions count them
  Source source;
};

constexpr std::uint32_t kMaxPlaces = 256;
Place places[kMaxPlaces];
std::uint32_t place_count;

constexpr std::uint64_t kLookedBehind = 4 * kLongestInstruction;  // bytes after the instruction, or before it
constexpr std::uint64_t kArithmeticFlags = 0x8d5;
constexpr std::uint64_t kCarryFlag = 1;

bool is_rex(std::uint8_t byte) { return (byte & 0xf0) == 0x40; }

// Bytes of an instruction at `code` that leaves the flags alone: a move, an extension, `lea`, or nothing; 0 for others.
std::uint64_t flagless_bytes(const std::uint8_t* code) {
  const std::uint8_t* opcode = code;
  if (*opcode == 0x66) opcode++;
  if (is_rex(*opcode)) opcode++;
  const bool moves = (opcode[0] & 0xfc) == 0x88 || (opcode[0] & 0xf0) == 0xb0 || (opcode[0] & 0xfe) == 0xc6;
  const bool extends = opcode[0] == 0x63 || (opcode[0] == 0x0f && (opcode[1] & 0xf6) == 0xb6);
  const bool is_nothing = opcode[0] == 0x90 || (opcode[0] == 0x0f && opcode[1] == 0x1f);
  return moves || extends || is_nothing || opcode[0] == 0x8d ? decode(code).bytes : 0;
}

// True if the carry flag is asked there: jc, jnc, setc, setnc, cmovc, cmovnc, adc or sbb.
bool asks_carry(const std::uint8_t* code) {
  if ((code[0] & 0xfe) == 0x72) return true;
  if (is_rex(code[0])) code++;
  const std::uint8_t kind = code[1] & 0xfe;
  if (code[0] == 0x0f) return kind == 0x82 || kind == 0x92 || kind == 0x42;
  if (code[0] == 0x83) return (code[1] & 0xf8) == 0xd0 || (code[1] & 0xf8) == 0xd8;
  const bool registers = (code[1] & 0xc0) == 0xc0;
  return registers && (code[0] == 0x11 || code[0] == 0x13 || code[0] == 0x19 || code[0] == 0x1b);
}

// True if it is asked before anything changes it. Compilers put in between what is to be done anyway.
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

// `at` is that of the bytes 0f c7. False if it is something else.
bool recognise(std::uint64_t at, Place& place) {
  const std::uint8_t* code = code_at(at);
  const std::uint8_t operand = code[2];
  if (code[1] != 0xc7 || operand < 0xf0) return false;  // of a register: /6 RDRAND, /7 RDSEED, f3 /7 RDPID
  const std::uint8_t rex = is_rex(code[-1]) ? code[-1] : 0;
  const std::uint64_t prefixes = rex != 0 ? 1 : 0;
  const std::uint8_t first = code[-1 - static_cast<long>(prefixes)];
  const bool is_short = first == 0x66, is_rdpid = first == 0xf3 && operand >= 0xf8;
  place.target = static_cast<std::uint8_t>((operand & 7) + ((rex & 1) != 0 ? 8 : 0));
  place.width = (rex & 8) != 0 || is_rdpid ? 64 : is_short ? 16 : 32;
  place.source = is_rdpid ? Source::kRdpid : operand >= 0xf8 ? Source::kRdseed : Source::kRdrand;
  place.start = at - prefixes - (is_short || is_rdpid ? 1 : 0);
  place.bytes = static_cast<std::uint8_t>(at + 3 - place.start);
  return is_rdpid || carry_is_asked(code + 3);
}

void trap(std::uint64_t at, const Place& place) {
  if (place_count == kMaxPlaces) return;
  const Writable page(at, 2);
  if (!page.done()) return;
  *reinterpret_cast<std::uint8_t*>(at + 1) = kInvalidOpcode;
  for (std::uint32_t i = 0; i < place_count; i++)
    if (places[i].start == place.start) return void(places[i] = place);
  places[place_count++] = place;
}

const Place* place_at(std::uint64_t ip) {
  for (std::uint32_t i = 0; i < place_count; i++)
    if (places[i].start == ip) return &places[i];
  return nullptr;
}

// As the vDSO's segment has it, of which RDPID tells: the node above the processor.
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

std::uint64_t logged_value(const Place& place) {
  if (replaying()) {
    const auto& record = expect<wire::InputRecord>(wire::RecordKind::kInput, "asked the processor");
    if (record.source != static_cast<std::uint32_t>(place.source)) diverged("asked the processor", &record.header);
    const std::uint64_t value = record.values[0];
    consume_record();
    return value;
  }
  const std::uint64_t value = place.source == Source::kRdpid ? processor_now() : random_now();
  RecordWriter record(wire::RecordKind::kInput, self().id, sizeof(wire::InputRecord), 0);
  auto& body = record.body<wire::InputRecord>();
  body.source = static_cast<std::uint32_t>(place.source);
  body.reserved = 0;
  body.values[0] = value;
  body.values[1] = body.values[2] = body.values[3] = 0;
  record.commit();
  return value;
}

}  // namespace

std::uint64_t& numbered_register(KernelRegisters& r, std::uint8_t number) {
  std::uint64_t* const kInOrder[] = {&r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rsp, &r.rbp, &r.rsi, &r.rdi,
                                     &r.r8,  &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15};
  return *kInOrder[number & 15];
}

bool trap_random_instructions(std::uint64_t start, std::uint64_t end) {
  const Region* region = code_region(start);
  if (region == nullptr || end > region->end || end - start < 2 * kLookedBehind) return false;
  bool any = false;
  const std::uint64_t last = end - kLookedBehind;
  for (std::uint64_t at = find_rare_pair(start + kLookedBehind, last); at < last; at = find_rare_pair(at + 1, last)) {
    if (*code_at(at) != 0x0f) {
      any |= redirect_vsyscall(at, end);
      continue;
    }
    Place place;
    const bool found = recognise(at, place);
    if (found) trap(at, place);
    any |= trap_gs_base(at) || found;
  }
  return any;
}

bool emulate_random(KernelContext& context) {
  auto& r = context.registers;
  const Place* place = place_at(r.rip);
  if (place == nullptr || code_region(r.rip) == nullptr || code_at(r.rip + place->bytes)[-2] != kInvalidOpcode)
    return false;
  arm();
  const std::uint64_t value = logged_value(*place);
  std::uint64_t& target = numbered_register(r, place->target);
  if (place->width == 16)
    target = (target & ~std::uint64_t{0xffff}) | (value & 0xffff);
  else
    target = place->width == 32 ? value & 0xffffffff : value;
  if (place->source != Source::kRdpid) r.eflags = (r.eflags & ~kArithmeticFlags) | kCarryFlag;
  r.rip += place->bytes;
  arm();
  return true;
}

}  // namespace reweave::core
