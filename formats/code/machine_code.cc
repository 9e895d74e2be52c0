#include "formats/code/machine_code.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace reweave {
namespace {

// Loaded when first needed: most runs of the program decode nothing, and looking up the symbols of a library takes
// time.
constexpr const char* kLibrary = "libZydis.so.4.0";

struct Zydis {
  decltype(&ZydisDecoderDecodeFull) decode = nullptr;
  ZydisDecoder decoder{};
};

Zydis load() {
  Zydis found;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return found;
  const auto init = reinterpret_cast<decltype(&ZydisDecoderInit)>(dlsym(library, "ZydisDecoderInit"));
  const auto decode = reinterpret_cast<decltype(&ZydisDecoderDecodeFull)>(dlsym(library, "ZydisDecoderDecodeFull"));
  if (init == nullptr || decode == nullptr) return found;
  if (ZYAN_SUCCESS(init(&found.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) found.decode = decode;
  return found;
}

const Zydis& zydis() {
  static const Zydis loaded = load();
  return loaded;
}

struct Decoded {
  ZydisDecodedInstruction info;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  std::span<const ZydisDecodedOperand> all() const { return {operands.data(), info.operand_count}; }
  std::span<const ZydisDecodedOperand> visible() const { return {operands.data(), info.operand_count_visible}; }
};

// Instructions that never fault because of a value, and whose operands affect only their result. Not in the list:
// divisions and floating-point arithmetic (both may trap), x87, string instructions, locked instructions.
constexpr ZydisMnemonic kDataFlows[] = {
    ZYDIS_MNEMONIC_ADC,        ZYDIS_MNEMONIC_ADD,     ZYDIS_MNEMONIC_AND,     ZYDIS_MNEMONIC_ANDN,
    ZYDIS_MNEMONIC_ANDPD,      ZYDIS_MNEMONIC_ANDPS,   ZYDIS_MNEMONIC_BSWAP,   ZYDIS_MNEMONIC_BT,
    ZYDIS_MNEMONIC_CBW,        ZYDIS_MNEMONIC_CDQ,     ZYDIS_MNEMONIC_CDQE,    ZYDIS_MNEMONIC_CMP,
    ZYDIS_MNEMONIC_CQO,        ZYDIS_MNEMONIC_CWD,     ZYDIS_MNEMONIC_CWDE,    ZYDIS_MNEMONIC_DEC,
    ZYDIS_MNEMONIC_IMUL,       ZYDIS_MNEMONIC_INC,     ZYDIS_MNEMONIC_LEA,     ZYDIS_MNEMONIC_MOV,
    ZYDIS_MNEMONIC_MOVAPD,     ZYDIS_MNEMONIC_MOVAPS,  ZYDIS_MNEMONIC_MOVD,    ZYDIS_MNEMONIC_MOVDQA,
    ZYDIS_MNEMONIC_MOVDQU,     ZYDIS_MNEMONIC_MOVQ,    ZYDIS_MNEMONIC_MOVSD,   ZYDIS_MNEMONIC_MOVSS,
    ZYDIS_MNEMONIC_MOVSX,      ZYDIS_MNEMONIC_MOVSXD,  ZYDIS_MNEMONIC_MOVUPD,  ZYDIS_MNEMONIC_MOVUPS,
    ZYDIS_MNEMONIC_MOVZX,      ZYDIS_MNEMONIC_MUL,     ZYDIS_MNEMONIC_NEG,     ZYDIS_MNEMONIC_NOT,
    ZYDIS_MNEMONIC_OR,         ZYDIS_MNEMONIC_ORPD,    ZYDIS_MNEMONIC_ORPS,    ZYDIS_MNEMONIC_PADDB,
    ZYDIS_MNEMONIC_PADDD,      ZYDIS_MNEMONIC_PADDQ,   ZYDIS_MNEMONIC_PADDW,   ZYDIS_MNEMONIC_PAND,
    ZYDIS_MNEMONIC_PANDN,      ZYDIS_MNEMONIC_PINSRD,  ZYDIS_MNEMONIC_PINSRQ,  ZYDIS_MNEMONIC_PINSRW,
    ZYDIS_MNEMONIC_POPCNT,     ZYDIS_MNEMONIC_POR,     ZYDIS_MNEMONIC_PSHUFD,  ZYDIS_MNEMONIC_PSUBB,
    ZYDIS_MNEMONIC_PSUBD,      ZYDIS_MNEMONIC_PSUBQ,   ZYDIS_MNEMONIC_PSUBW,   ZYDIS_MNEMONIC_PUNPCKLDQ,
    ZYDIS_MNEMONIC_PUNPCKLQDQ, ZYDIS_MNEMONIC_PXOR,    ZYDIS_MNEMONIC_ROL,     ZYDIS_MNEMONIC_ROR,
    ZYDIS_MNEMONIC_SAR,        ZYDIS_MNEMONIC_SARX,    ZYDIS_MNEMONIC_SBB,     ZYDIS_MNEMONIC_SETB,
    ZYDIS_MNEMONIC_SETBE,      ZYDIS_MNEMONIC_SETL,    ZYDIS_MNEMONIC_SETLE,   ZYDIS_MNEMONIC_SETNB,
    ZYDIS_MNEMONIC_SETNBE,     ZYDIS_MNEMONIC_SETNL,   ZYDIS_MNEMONIC_SETNLE,  ZYDIS_MNEMONIC_SETNS,
    ZYDIS_MNEMONIC_SETNZ,      ZYDIS_MNEMONIC_SETS,    ZYDIS_MNEMONIC_SETZ,    ZYDIS_MNEMONIC_SHL,
    ZYDIS_MNEMONIC_SHLD,       ZYDIS_MNEMONIC_SHLX,    ZYDIS_MNEMONIC_SHR,     ZYDIS_MNEMONIC_SHRD,
    ZYDIS_MNEMONIC_SHRX,       ZYDIS_MNEMONIC_SUB,     ZYDIS_MNEMONIC_TEST,    ZYDIS_MNEMONIC_UNPCKLPD,
    ZYDIS_MNEMONIC_UNPCKLPS,   ZYDIS_MNEMONIC_VMOVD,   ZYDIS_MNEMONIC_VMOVDQA, ZYDIS_MNEMONIC_VMOVDQU,
    ZYDIS_MNEMONIC_VMOVQ,      ZYDIS_MNEMONIC_VMOVUPD, ZYDIS_MNEMONIC_VMOVUPS, ZYDIS_MNEMONIC_VPXOR,
    ZYDIS_MNEMONIC_VXORPD,     ZYDIS_MNEMONIC_VXORPS,  ZYDIS_MNEMONIC_XOR,     ZYDIS_MNEMONIC_XORPD,
    ZYDIS_MNEMONIC_XORPS,
};

bool is_one_of(ZydisMnemonic mnemonic, std::span<const ZydisMnemonic> list) {
  return std::find(list.begin(), list.end(), mnemonic) != list.end();
}

// A 16-byte instruction leaves the upper half of a wider register as it was, so a value there would be missed. Hence no
// data is followed through wider instructions.
bool is_wide(const Decoded& decoded) {
  return std::any_of(decoded.all().begin(), decoded.all().end(), [](const auto& o) { return o.size > 128; });
}

bool data_flows_through(const Decoded& decoded) {
  const ZydisDecodedInstruction& info = decoded.info;
  constexpr ZydisInstructionAttributes kSpecial =
      ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  if ((info.attributes & kSpecial) != 0 || info.meta.category == ZYDIS_CATEGORY_STRINGOP || is_wide(decoded))
    return false;
  // With an operand in memory, the number of the bit is a part of the address.
  if (info.mnemonic == ZYDIS_MNEMONIC_BT && info.raw.modrm.mod != 3) return false;
  return info.meta.category == ZYDIS_CATEGORY_CMOV || is_one_of(info.mnemonic, kDataFlows);
}

unsigned number_of(ZydisRegister given) {
  const auto in = [&](ZydisRegister first, ZydisRegister last) { return given >= first && given <= last; };
  if (in(ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15)) return static_cast<unsigned>(given - ZYDIS_REGISTER_RAX);
  if (in(ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D)) return static_cast<unsigned>(given - ZYDIS_REGISTER_EAX);
  if (in(ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W)) return static_cast<unsigned>(given - ZYDIS_REGISTER_AX);
  if (in(ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL)) return static_cast<unsigned>(given - ZYDIS_REGISTER_AL);
  if (in(ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH)) return static_cast<unsigned>(given - ZYDIS_REGISTER_AH);
  if (in(ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B)) return static_cast<unsigned>(given - ZYDIS_REGISTER_SPL) + kRsp;
  if (in(ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_XMM31))
    return static_cast<unsigned>(given - ZYDIS_REGISTER_XMM0) + kFirstVector;
  if (in(ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_YMM31))
    return static_cast<unsigned>(given - ZYDIS_REGISTER_YMM0) + kFirstVector;
  if (in(ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31))
    return static_cast<unsigned>(given - ZYDIS_REGISTER_ZMM0) + kFirstVector;
  if (in(ZYDIS_REGISTER_FLAGS, ZYDIS_REGISTER_RFLAGS)) return kFlags;
  if (in(ZYDIS_REGISTER_IP, ZYDIS_REGISTER_RIP)) return kNoRegister;
  return given == ZYDIS_REGISTER_NONE ? kNoRegister : kOtherRegister;
}

bool reads(const ZydisDecodedOperand& operand) { return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0; }
bool writes(const ZydisDecodedOperand& operand) { return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }
bool surely_writes(const ZydisDecodedOperand& operand) { return (operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0; }

// True if the write to a register replaces all of its old value.
bool replaces(const Decoded& decoded, const ZydisDecodedOperand& operand) {
  constexpr ZydisMnemonic kSetsAllFlags[] = {ZYDIS_MNEMONIC_ADD,  ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_CMP,
                                             ZYDIS_MNEMONIC_NEG,  ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_SUB,
                                             ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_XOR};
  constexpr ZydisMnemonic kLoadsVector[] = {ZYDIS_MNEMONIC_MOVD, ZYDIS_MNEMONIC_MOVQ, ZYDIS_MNEMONIC_MOVSS,
                                            ZYDIS_MNEMONIC_MOVSD};
  if (!surely_writes(operand)) return false;
  const unsigned number = number_of(operand.reg.value);
  if (number < kGeneralRegisters) return operand.size >= 32;
  if (number == kFlags) return is_one_of(decoded.info.mnemonic, kSetsAllFlags);
  // The instructions kLoadsVector clear the rest of the register if the value comes from memory or a general register.
  return number < kFlags && is_one_of(decoded.info.mnemonic, kLoadsVector) &&
         std::any_of(decoded.visible().begin() + 1, decoded.visible().end(), [](const ZydisDecodedOperand& o) {
           return o.type == ZYDIS_OPERAND_TYPE_MEMORY || number_of(o.reg.value) < kGeneralRegisters;
         });
}

void add_register(const Decoded& decoded, const ZydisDecodedOperand& operand, Instruction& to) {
  const RegisterSet own = bit(number_of(operand.reg.value));
  if (reads(operand)) to.reads |= own;
  if (!writes(operand)) return;
  to.writes |= own;
  if (replaces(decoded, operand)) to.replaces |= own;
}

void add_memory(const Decoded& decoded, const ZydisDecodedOperand& operand, Instruction& to) {
  const auto& memory = operand.mem;
  const unsigned base = number_of(memory.base), index = number_of(memory.index);
  if (memory.type == ZYDIS_MEMOP_TYPE_AGEN) {
    if (decoded.info.mnemonic == ZYDIS_MNEMONIC_LEA) to.reads |= bit(base) | bit(index);
  } else {
    if (to.loads || to.stores || memory.type != ZYDIS_MEMOP_TYPE_MEM) to.several_places = true;
    to.loads |= reads(operand);
    to.stores |= writes(operand);
    to.address_of |= bit(base) | bit(index);
    to.bytes = static_cast<std::uint8_t>(std::min<unsigned>(operand.size / 8, 64));
    if (operand.size == 0 || operand.size > 512) to.several_places = true;
  }
  to.memory = {base, index, memory.scale, memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS,
               memory.disp.has_displacement ? memory.disp.value : 0};
  if (memory.base == ZYDIS_REGISTER_RIP) to.memory.displacement += static_cast<std::int64_t>(to.address + to.length);
  if (memory.base == ZYDIS_REGISTER_EIP) to.several_places = true;
}

struct ShapeRow {
  ZydisMnemonic mnemonic;
  Instruction::Shape shape;
};
constexpr ShapeRow kShapes[] = {
    {ZYDIS_MNEMONIC_MOV, Instruction::Shape::kMove},        {ZYDIS_MNEMONIC_MOVSXD, Instruction::Shape::kSignExtend},
    {ZYDIS_MNEMONIC_CDQE, Instruction::Shape::kSignExtend}, {ZYDIS_MNEMONIC_LEA, Instruction::Shape::kAddress},
    {ZYDIS_MNEMONIC_ADD, Instruction::Shape::kAdd},         {ZYDIS_MNEMONIC_SUB, Instruction::Shape::kSubtract},
    {ZYDIS_MNEMONIC_SHL, Instruction::Shape::kShiftLeft},   {ZYDIS_MNEMONIC_PUSH, Instruction::Shape::kPush},
    {ZYDIS_MNEMONIC_POP, Instruction::Shape::kPop},         {ZYDIS_MNEMONIC_LEAVE, Instruction::Shape::kLeave},
};

Instruction::Shape shape_of(ZydisMnemonic mnemonic) {
  const auto row = std::find_if(std::begin(kShapes), std::end(kShapes),
                                [&](const ShapeRow& each) { return each.mnemonic == mnemonic; });
  return row == std::end(kShapes) ? Instruction::Shape::kOther : row->shape;
}

void add_shape(const Decoded& decoded, Instruction& to) {
  to.shape = shape_of(decoded.info.mnemonic);
  if (decoded.info.mnemonic == ZYDIS_MNEMONIC_CDQE) {
    to.to = to.from = kRax;
    to.bytes = 8;
    return;
  }
  const auto operands = decoded.visible();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      to.has_constant = true;
      to.constant = operand.imm.value.s;
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const unsigned number = number_of(operand.reg.value);
    if (i == 0 && to.shape != Instruction::Shape::kPush) {
      to.to = number;
    } else {
      to.from = number;
    }
    if (i == 0 && !to.loads && !to.stores) to.bytes = static_cast<std::uint8_t>(operand.size / 8);
  }
  // A shape has one destination and one source, both in general registers of 4 or 8 bytes.
  const bool general = (to.to == kNoRegister || to.to < kGeneralRegisters) &&
                       (to.from == kNoRegister || to.from < kGeneralRegisters) && operands.size() <= 2;
  const bool widens = to.shape != Instruction::Shape::kSignExtend || operands[0].size == 64;
  if (!general || !widens || to.several_places) to.shape = Instruction::Shape::kOther;
}

// The destination of a relative branch; 0 for other branches.
std::uint64_t target_of(const Decoded& decoded, const Instruction& at) {
  const ZydisDecodedOperand& operand = decoded.operands[0];
  if (decoded.info.operand_count == 0 || operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operand.imm.is_relative)
    return 0;
  return at.end() + static_cast<std::uint64_t>(operand.imm.value.s);
}

Instruction::Kind kind_of(const ZydisDecodedInstruction& info, std::uint64_t target) {
  using Kind = Instruction::Kind;
  switch (info.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return Kind::kBranch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return target != 0 ? Kind::kJump : Kind::kIndirectJump;
    case ZYDIS_CATEGORY_CALL:
      return Kind::kCall;
    case ZYDIS_CATEGORY_RET:
      return Kind::kReturn;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSRET:
      return info.mnemonic == ZYDIS_MNEMONIC_INT3 ? Kind::kStop : Kind::kSystem;
    default:
      break;
  }
  constexpr ZydisMnemonic kStops[] = {ZYDIS_MNEMONIC_HLT, ZYDIS_MNEMONIC_INT3, ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1,
                                      ZYDIS_MNEMONIC_UD2};
  return is_one_of(info.mnemonic, kStops) ? Kind::kStop : Kind::kPlain;
}

// True for x ^ x and x - x, which are always 0.
bool makes_zero(const Decoded& decoded) {
  constexpr ZydisMnemonic kMakesZero[] = {ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_PXOR,
                                          ZYDIS_MNEMONIC_XORPS, ZYDIS_MNEMONIC_XORPD};
  const auto operands = decoded.visible();
  return is_one_of(decoded.info.mnemonic, kMakesZero) && operands.size() == 2 &&
         operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[0].reg.value == operands[1].reg.value && operands[0].size >= 32;
}

Instruction reduced(const Decoded& decoded, std::uint64_t address) {
  Instruction to;
  to.address = address;
  to.length = decoded.info.length;
  to.data_flows = data_flows_through(decoded);
  to.compares = decoded.info.mnemonic == ZYDIS_MNEMONIC_CMP;
  to.tests = decoded.info.mnemonic == ZYDIS_MNEMONIC_TEST;
  const bool nothing = decoded.info.meta.category == ZYDIS_CATEGORY_NOP ||
                       decoded.info.meta.category == ZYDIS_CATEGORY_WIDENOP ||
                       decoded.info.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
  if (nothing) return to;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(decoded, operand, to);
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add_memory(decoded, operand, to);
    if (operand.type == ZYDIS_OPERAND_TYPE_POINTER) to.several_places = true;
  }
  if (to.memory.other_segment) to.reads |= bit(kOtherRegister);
  to.target = target_of(decoded, to);
  to.kind = kind_of(decoded.info, to.target);
  add_shape(decoded, to);
  if (makes_zero(decoded)) {
    to.reads = 0;
    to.replaces = to.writes;
    to.shape = Instruction::Shape::kOther;
  }
  return to;
}

}  // namespace

bool can_decode() { return zydis().decode != nullptr; }

std::optional<Instruction> decode_instruction(std::span<const std::uint8_t> code, std::uint64_t address) {
  if (!can_decode()) return std::nullopt;
  Decoded decoded;
  if (!ZYAN_SUCCESS(zydis().decode(&zydis().decoder, code.data(), code.size(), &decoded.info, decoded.operands.data())))
    return std::nullopt;
  return reduced(decoded, address);
}

std::vector<Instruction> decode_all(std::span<const std::uint8_t> code, std::uint64_t address, std::size_t most) {
  std::vector<Instruction> result;
  while (!code.empty()) {
    const auto next = decode_instruction(code, address);
    if (!next || result.size() == most) return {};
    result.push_back(*next);
    code = code.subspan(next->length);
    address += next->length;
  }
  return result;
}

}  // namespace reweave
