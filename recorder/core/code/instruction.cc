#include "recorder/core/code/instruction.h"

#include <initializer_list>

namespace reweave::core {

namespace {

// By opcode, what follows it:
//   o nothing; m operands; b, w operands and a constant of 8, of 32 bits; i, d a constant of 8, of 32 bits
//   q a constant as wide as the operation; g, G operands, and for some a constant of 8, of 32 bits
//   f operands, but some of these are calls and jumps; z operands and a constant of 8, Z of 32 bits, if a move
//   j a short conditional branch; J a short jump; n a near conditional branch; N a near jump
// These are not moved:
//   O nothing; M operands; B a constant of 8, W of 16, E of 24, D of 32, X of 64 bits; . no instruction of programs
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
    "bbWO..zZEo..OB.."
    "mmmm...Ommmmmmmm"
    "BBBB....DN.J...."
    "....OogGoo..oomf";
constexpr char kTwoBytes[] =  // behind 0f
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
  std::uint8_t at;    // behind it
  bool wide, narrow;  // operates on 64 bits, on 16
  bool stays;         // has a prefix with which it is not moved
};

// Maps of three-byte opcodes: 2 is 0f 38, 3 is 0f 3a.
char kind_in_map(std::uint32_t map, std::uint8_t opcode) {
  if (map == 1) return kTwoBytes[opcode];
  return map == 2 ? 'm' : map == 3 ? 'b' : '.';
}

// Of vector instructions: `prefix` bytes, of which the last bits of the second (or 1, for short ones) are the map.
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

// Not moved: %gs, whose base is ours, and addresses of 32 bits.
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
  if (is_one_of(opcode.kind, "nND")) return 4;
  if (opcode.kind == 'q') return opcode.wide ? 8 : usual;
  if (opcode.kind == 'W') return 2;
  if (opcode.kind == 'E') return 3;
  if (opcode.kind == 'X') return 8;
  if (opcode.kind == 'g') return operation < 2 ? 1 : 0;
  return opcode.kind == 'G' && operation < 2 ? usual : 0;
}

bool has_operands(const Opcode& opcode) { return is_one_of(opcode.kind, "mbwgGfzZM"); }

// Which of several that share an opcode it is.
std::uint32_t operation_of(const Opcode& opcode, const std::uint8_t* code) {
  return has_operands(opcode) ? code[opcode.at] >> 3 & 7 : 0;
}

// 0: no instruction.
std::uint32_t length_of(const Opcode& opcode, const std::uint8_t* code) {
  const std::uint32_t operation = operation_of(opcode, code);
  if (is_one_of(opcode.kind, "zZ") && operation != 0) return 0;
  const std::uint32_t behind = opcode.at + (has_operands(opcode) ? operand_bytes(code + opcode.at) : 0);
  const std::uint32_t bytes = behind + constant_bytes(opcode, operation);
  return bytes > kLongestInstruction ? 0 : bytes;
}

bool is_moved(const Opcode& opcode, const std::uint8_t* code) {
  if (opcode.stays || opcode.kind == 0 || is_one_of(opcode.kind, ".OMBWEDX")) return false;
  const std::uint32_t operation = operation_of(opcode, code);
  if (opcode.kind == 'f' && operation >= 2 && operation <= 5) return false;
  const bool is_near = is_one_of(opcode.kind, "nN"), is_short = is_one_of(opcode.kind, "jJ");
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
  const bool is_near = is_one_of(opcode.kind, "nN"), relative = has_operands(opcode) && (code[opcode.at] & 0xc7) == 5;
  const std::uint32_t distance_at = is_near ? opcode.at : relative ? opcode.at + 1u : 0;
  return {static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(distance_at), is_one_of(opcode.kind, "jJ"),
          !is_one_of(opcode.kind, "NJ")};
}

}  // namespace reweave::core
