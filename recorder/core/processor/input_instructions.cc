#include "recorder/core/processor/input_instructions.h"

#include "recorder/core/code/instruction.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kNearest = 16, kFarthest = 80;  // distance in bytes before the place from which decoders start
constexpr int kInstructionsBehind = 10;                // number of valid instructions required after it
constexpr int kUsesBehind = 6;                         // one of this many uses the value

// Counts the decoders that start before a place: all of them, those that hit the place, and those that skip it.
struct Votes {
  int starts = 0, there = 0, past = 0;
};

// A decoder continues like the one that starts after its first instruction, so each place is decoded once, the nearest
// first.
Votes count_votes(const std::uint8_t* start, const std::uint8_t* place) {
  enum class Comes : std::uint8_t { kNowhere, kThere, kPast };
  Comes from[kFarthest + 1] = {Comes::kThere};  // by the distance before the place
  Votes votes;
  for (std::int64_t before = 1; before <= kFarthest && before <= place - start; before++) {
    const std::uint32_t bytes = instruction_bytes(place - before);
    if (bytes != 0) from[before] = bytes > before ? Comes::kPast : from[before - bytes];
    if (before < kNearest) continue;
    votes.starts++;
    votes.there += from[before] == Comes::kThere;
    votes.past += from[before] == Comes::kPast;
  }
  return votes;
}

bool begins_there(const Votes& votes) { return votes.there > 2 * votes.past && 8 * votes.there >= 3 * votes.starts; }

// Registers by the bits of their numbers.
constexpr unsigned kRaxRdx = 0b0101, kRaxToRbx = 0b1111;

bool is_value(std::uint8_t number, bool extended, unsigned registers) {
  return (registers >> number & 1) != 0 && !extended;
}

bool is_one_of(std::uint8_t byte, const std::uint8_t* known) {
  for (; *known != 0; known++)
    if (*known == byte) return true;
  return false;
}

// True if the instruction only compares one of the registers rax to rbx with a constant or tests its bits, as code does
// with cpuid's results.
bool asks_for_bits(const std::uint8_t* code) {
  constexpr std::uint8_t kOnRax[] = {0x3d, 0xa8, 0xa9, 0};  // cmp, test of a byte, test
  constexpr std::uint8_t kOnAny[] = {0xf6, 0xf7, 0x80, 0};  // test of a byte, test, any arithmetic on a byte
  constexpr std::uint8_t kRegisters = 0xc0, kBitTest = 0xba, kFour = 4;  // bt $constant, %register is 0f ba /4
  if (is_one_of(code[0], kOnRax)) return true;
  const bool is_bit_test = code[0] == 0x0f && code[1] == kBitTest && (code[2] >> 3 & 7) == kFour;
  const std::uint8_t operands = is_bit_test ? code[2] : code[1];
  if (operands < kRegisters || (operands & 7) >= kFour) return false;
  const bool is_test = (operands >> 3 & 7) == 0 || code[0] == 0x80;
  return is_bit_test || (is_test && is_one_of(code[0], kOnAny));
}

// True if the instruction reads or changes one of `registers`, in one of a few forms common in code that uses the
// result: moves, shifts, arithmetic, extensions and lea.
bool works_on(unsigned registers, const std::uint8_t* code) {
  constexpr std::uint8_t kMove = 0x89, kLoadAddress = 0x8d, kEscape = 0x0f, kMultiply = 0xaf, kByIndex = 4;
  constexpr std::uint8_t kOnTwo[] = {kMove, 0x8b, 0x01, 0x03, 0x09, 0x0b, 0x21, 0x23,
                                     0x29,  0x2b, 0x31, 0x33, 0x39, 0x3b, 0x85, 0};
  constexpr std::uint8_t kWithConstant[] = {0xc1, 0x81, 0x83, 0};
  const std::uint8_t rex = (code[0] & 0xf0) == 0x40 ? *code++ : std::uint8_t{0};
  std::uint8_t opcode = code[0];
  if (opcode == kEscape && ((code[1] & 0xf6) == 0xb6 || code[1] == kMultiply)) {
    code++;
    opcode = kMove;
  }
  const std::uint8_t operands = code[1];
  const bool between_registers = operands >= 0xc0;
  const bool first = is_value(operands & 7, (rex & 1) != 0, registers);
  const bool second = is_value(operands >> 3 & 7, (rex & 4) != 0, registers);
  if (registers == kRaxToRbx && (rex & 1) == 0 && asks_for_bits(code)) return true;
  if (is_one_of(opcode, kWithConstant)) return between_registers && first;
  if (is_one_of(opcode, kOnTwo)) return between_registers ? first || second : opcode == kMove && second;
  const bool by_index = (operands & 7) == kByIndex && is_value(code[2] & 7, (rex & 1) != 0, registers);
  return opcode == kLoadAddress && !between_registers && (first || by_index);
}

// The address at which execution continues after the instruction of that many bytes; null if unknown.
const std::uint8_t* next(const std::uint8_t* code, std::uint32_t bytes) {
  constexpr std::uint8_t kShortJump = 0xeb, kNearJump = 0xe9, kReturn = 0xc3;
  if (*code == kReturn) return nullptr;
  std::int32_t distance = 0;
  if (*code == kShortJump) distance = static_cast<std::int8_t>(code[1]);
  if (*code == kNearJump) __builtin_memcpy(&distance, code + 1, sizeof distance);
  return code + bytes + distance;
}

bool is_used(unsigned registers, const std::uint8_t* start, const std::uint8_t* code, const std::uint8_t* end) {
  constexpr std::uint8_t kZeros = 0;  // common in tables; as code, an addition whose result is not used
  for (int i = 0; i < kUsesBehind; i++) {
    if (code == nullptr || code < start || code + kLongestInstruction > end) return false;
    const std::uint32_t bytes = instruction_bytes(code);
    if (bytes == 0 || *code == kZeros) return false;
    if (works_on(registers, code)) return true;
    code = next(code, bytes);
  }
  return false;
}

// True if the bytes that follow are valid instructions, as data seldom is.
bool code_continues(const std::uint8_t* code, const std::uint8_t* end) {
  std::uint32_t bytes = 1;
  for (int i = 0; i < kInstructionsBehind && bytes != 0 && code + kLongestInstruction <= end; i++)
    code += bytes = instruction_bytes(code);
  return bytes != 0;
}

}  // namespace

InputInstruction input_instruction(const std::uint8_t* start, const std::uint8_t* at, const std::uint8_t* end) {
  if (at + 3 > end || at[0] != 0x0f) return InputInstruction::kNone;
  InputInstruction found = InputInstruction::kNone;
  if (at[1] == 0x31) found = InputInstruction::kRdtsc;
  if (at[1] == 0x01 && at[2] == 0xf9) found = InputInstruction::kRdtscp;
  if (at[1] == 0x01 && at[2] == 0xd0) found = InputInstruction::kXgetbv;
  if (at[1] == 0xa2) found = InputInstruction::kCpuid;
  if (found == InputInstruction::kNone) return found;
  const std::uint8_t* after = at + bytes_of(found);
  const unsigned registers = found == InputInstruction::kCpuid ? kRaxToRbx : kRaxRdx;
  const bool makes_sense = is_used(registers, start, after, end) && code_continues(after, end);
  return makes_sense && begins_there(count_votes(start, at)) ? found : InputInstruction::kNone;
}

}  // namespace reweave::core
