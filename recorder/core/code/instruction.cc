#include "recorder/core/code/instruction.h"

#include <initializer_list>

namespace reweave::core {

namespace {

// The bytes that follow each opcode. The sizes of constants are in bits.
//   o: nothing; m: operands; b (w): operands and a constant of 8 (32); i (d): a constant of 8 (32)
//   q: a constant as wide as the operation; g (G): operands, and for some operations a constant of 8 (32)
//   f: operands, and some operations are calls and jumps; z (Z): if a move, operands and a constant of 8 (32)
//   j (n): a short (near) conditional branch, including branches on a counter; J (N): a short (near) jump
//   C: a near call; r: a return; R: a return with a constant of 16
// Instructions of these kinds are not moved:
//   O: nothing; M: operands; B (E, X): a constant of 8 (24, 64); a dot: not used by programs
constexpr char kOneByte[] =
    "mmmmid..mmmmid.."
    "mmmmid..mmmmid.."
    "mmmmid..mmmmid.."
    "mmmmid..mmmmid.."
    "................"
    "oooooooooooooooo"
    "...m....dwib...."
    "jjjjjjjjjjjjjjjj"
    "bw.bmmmmmmmmMmMM"
    "oooooooooo.OOOoo"
    "XXXXooooidoooooo"
    "iiiiiiiiqqqqqqqq"
    "bbRr..zZEo..OB.."
    "mmmm...Ommmmmmmm"
    "jjjj....CN.J...."
    "....OogGoo..oomf";
constexpr char kTwoBytes[] =  // after 0f
    ".M...O.....O.m.."
    "mmmmmmmmmmmmmmmm"
    "........mmmmmmmm"
    ".O.............."
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "bbbbmmmo....mmmm"
    "nnnnnnnnnnnnnnnn"
    "mmmmmmmmmmmmmmmm"
    "OOOmbm..OO.mbmMm"
    "mm.m..mmmMbmmmmm"
    "mmbmbbbMoooooooo"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmM";
static_assert(sizeof kOneByte == 257 && sizeof kTwoBytes == 257);

struct Opcode {
  char kind;
  std::uint8_t at;    // offset after it
  bool wide, narrow;  // operates on 64 bits, on 16
  bool stays;         // has a prefix that prevents moving it
};

// Maps of three-byte opcodes: 2 is 0f 38, 3 is 0f 3a.
char kind_in_map(std::uint32_t map, std::uint8_t opcode) {
  if (map == 1) return kTwoBytes[opcode];
  return map == 2 ? 'm' : map == 3 ? 'b' : '.';
}

// Vector instructions: `prefix` bytes; the last bits of the second one are the map (1 for short prefixes).
Opcode vector_opcode(const std::uint8_t* code, std::uint8_t at, bool stays) {
  const std::uint8_t prefix = code[at] == 0xc5 ? 2 : code[at] == 0xc4 ? 3 : 4;
  const std::uint32_t map = prefix == 2 ? 1 : prefix == 3 ? code[at + 1] & 0x1f : code[at + 1] & 7;
  const char kind = kind_in_map(map, code[at + prefix]);
  return {kind == 'n' ? '.' : kind, static_cast<std::uint8_t>(at + prefix + 1), false, false, stays};
}

bool is_one_of(std::uint8_t byte, std::initializer_list<int> known) {
  for (const int each : known)
    if (byte == each) return true;
  return false;
}

bool is_moved_prefix(std::uint8_t byte) {
  return is_one_of(byte, {0x66, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64});
}

// %gs, whose base is the core's, and 32-bit addresses prevent moving.
bool is_prefix(std::uint8_t byte) { return is_moved_prefix(byte) || is_one_of(byte, {0x65, 0x67}); }

Opcode opcode_of(const std::uint8_t* code) {
  constexpr std::uint8_t kMostPrefixes = 6;
  std::uint8_t at = 0;
  bool narrow = false, stays = false;
  for (; is_prefix(code[at]); at++) {
    if (at == kMostPrefixes) return {};
    narrow = narrow || code[at] == 0x66;
    stays = stays || !is_moved_prefix(code[at]);
  }
  if (is_one_of(code[at], {0xc4, 0xc5, 0x62})) return vector_opcode(code, at, stays);
  const bool wide = (code[at] & 0xf8) == 0x48;
  if ((code[at] & 0xf0) == 0x40) at++;
  narrow = narrow && !wide;
  if (code[at] != 0x0f) return {kOneByte[code[at]], static_cast<std::uint8_t>(at + 1), wide, narrow, stays};
  at++;
  const std::uint32_t map = code[at] == 0x38 ? 2 : code[at] == 0x3a ? 3 : 1;
  if (map != 1) at++;
  return {kind_in_map(map, code[at]), static_cast<std::uint8_t>(at + 1), wide, narrow, stays};
}

bool is_one_of(char kind, const char* kinds) {
  for (; *kinds != 0; kinds++)
    if (*kinds == kind) return true;
  return false;
}

std::uint32_t operand_bytes(const std::uint8_t* operands) {
  const std::uint32_t mode = operands[0] >> 6, place = operands[0] & 7;
  if (mode == 3) return 1;
  const bool indexed = place == 4;
  const std::uint32_t base = indexed ? operands[1] & 7 : place;
  const std::uint32_t distance = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
  return 1 + indexed + distance;
}

std::uint32_t constant_bytes(const Opcode& opcode, std::uint32_t operation) {
  const std::uint32_t usual = opcode.narrow ? 2 : 4;
  if (is_one_of(opcode.kind, "bizjJB")) return 1;
  if (is_one_of(opcode.kind, "wdZ")) return usual;
  if (is_one_of(opcode.kind, "nNC")) return 4;
  if (opcode.kind == 'q') return opcode.wide ? 8 : usual;
  if (opcode.kind == 'R') return 2;
  if (opcode.kind == 'E') return 3;
  if (opcode.kind == 'X') return 8;
  if (opcode.kind == 'g') return operation < 2 ? 1 : 0;
  return opcode.kind == 'G' && operation < 2 ? usual : 0;
}

bool has_operands(const Opcode& opcode) { return is_one_of(opcode.kind, "mbwgGfzZM"); }

// The operation among those that share an opcode.
std::uint32_t operation_of(const Opcode& opcode, const std::uint8_t* code) {
  return has_operands(opcode) ? code[opcode.at] >> 3 & 7 : 0;
}

// 0: not an instruction.
std::uint32_t length_of(const Opcode& opcode, const std::uint8_t* code) {
  const std::uint32_t operation = operation_of(opcode, code);
  if (is_one_of(opcode.kind, "zZ") && operation != 0) return 0;
  const std::uint32_t behind = opcode.at + (has_operands(opcode) ? operand_bytes(code + opcode.at) : 0);
  const std::uint32_t bytes = behind + constant_bytes(opcode, operation);
  return bytes > kLongestInstruction ? 0 : bytes;
}

constexpr std::uint32_t kCallOperation = 2, kJumpOperation = 4;  // of opcode ff

// False for far calls and jumps, and for a call whose operand is addressed by the stack pointer: a moved call changes
// the stack pointer before it reads the operand.
bool is_moved_transfer(const Opcode& opcode, const std::uint8_t* code, std::uint32_t operation) {
  if (operation == kJumpOperation) return true;
  if (operation != kCallOperation) return operation < kCallOperation || operation > 5;
  const std::uint8_t* operands = code + opcode.at;
  const bool extended = opcode.at > 1 && (operands[-2] & 0xf1) == 0x41;
  const std::uint8_t base = (operands[0] & 7) == 4 && operands[0] >> 6 != 3 ? operands[1] & 7 : operands[0] & 7;
  return base != 4 || extended;
}

// lfence, mfence, sfence
bool is_fence(const std::uint8_t* code) { return code[0] == 0x0f && code[1] == 0xae && code[2] >= 0xe8; }

bool is_moved(const Opcode& opcode, const std::uint8_t* code) {
  if (is_fence(code)) return true;
  if (opcode.stays || opcode.kind == 0 || is_one_of(opcode.kind, ".OMBEX")) return false;
  const std::uint32_t operation = operation_of(opcode, code);
  if (opcode.kind == 'f' && !is_moved_transfer(opcode, code, operation)) return false;
  const bool is_near = is_one_of(opcode.kind, "nNC"), is_short = is_one_of(opcode.kind, "jJ");
  return !(is_near && opcode.narrow) && !(is_short && opcode.at != 1);
}

}  // namespace

std::uint32_t instruction_bytes(const std::uint8_t* code) {
  const Opcode opcode = opcode_of(code);
  return opcode.kind == 0 || opcode.kind == '.' ? 0 : length_of(opcode, code);
}

bool repeats(const std::uint8_t* code) {
  bool repeated = false;
  for (std::uint64_t i = 1; i < kLongestInstruction && is_moved_prefix(*code); i++, code++)
    repeated = repeated || *code == 0xf2 || *code == 0xf3;
  if ((*code & 0xf0) == 0x40) code++;
  const bool is_string = (*code & 0xfc) == 0xa4 || (*code >= 0xaa && *code <= 0xaf);
  return repeated && is_string;
}

Instruction decode(const std::uint8_t* code) {
  const Opcode opcode = opcode_of(code);
  if (!is_moved(opcode, code)) return {};
  const std::uint32_t bytes = length_of(opcode, code);
  if (bytes == 0) return {};
  const bool is_near = is_one_of(opcode.kind, "nNC"), relative = has_operands(opcode) && (code[opcode.at] & 0xc7) == 5;
  const std::uint32_t distance_at = is_near ? opcode.at : relative ? opcode.at + 1u : 0;
  const std::uint32_t transfer = opcode.kind == 'f' ? operation_of(opcode, code) : 0;
  const bool calls = opcode.kind == 'C' || transfer == kCallOperation;
  const bool leaves = calls || transfer == kJumpOperation || is_one_of(opcode.kind, "NJrR");
  return {static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(distance_at), is_one_of(opcode.kind, "jJ"),
          !leaves, calls};
}

std::uint8_t call_operands_at(const std::uint8_t* code) { return opcode_of(code).at; }

bool replaces_flags(const std::uint8_t* code) {
  const Opcode opcode = opcode_of(code);
  std::uint8_t at = 0;
  while (is_one_of(code[at], {0x66, 0x2e, 0x36, 0x3e, 0x26, 0x64})) at++;
  if ((code[at] & 0xf0) == 0x40) at++;
  if (opcode.kind == 0 || at + 1 != opcode.at) return false;
  const std::uint8_t what = code[at];
  const bool by_constant = is_one_of(what, {0x80, 0x81, 0x83}), by_operand = what < 0x40 && (what & 7) < 6;
  const std::uint8_t operation = (by_constant ? code[opcode.at] : what) & 0x38;
  return (by_constant || by_operand) && is_one_of(operation, {0x00, 0x28, 0x38});  // add, sub, cmp
}

}  // namespace reweave::core
