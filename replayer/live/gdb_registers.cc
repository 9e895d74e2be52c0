#include "replayer/live/gdb_registers.h"

#include <cstddef>
#include <cstring>

#include "formats/base/error.h"

namespace reweave {

namespace {

// Offsets in the state that the processor saves (XSAVE area; Intel's manual, volume 1, 13.4).
constexpr std::size_t kControl = 0, kStatus = 2, kTags = 4, kOpcode = 6, kIp = 8, kData = 16, kMxcsr = 24, kStack = 32,
                      kVectors = 160, kUpperHalves = 576, kInUse = 512;
constexpr std::size_t kLegacyBytes = 512, kFloatBytes = 10, kVectorBytes = 16, kWords = 8;
constexpr std::uint64_t kHasUpperHalves = 4;  // bit of the word at kInUse

struct General {
  const char* name;
  const char* type;
  std::size_t bytes;
  std::size_t offset;  // in user_regs_struct
};
#define GENERAL(name, type, bytes) \
  { #name, type, bytes, offsetof(user_regs_struct, name) }
constexpr General kGeneral[] = {
    GENERAL(rax, "int64", 8),    GENERAL(rbx, "int64", 8),    GENERAL(rcx, "int64", 8),
    GENERAL(rdx, "int64", 8),    GENERAL(rsi, "int64", 8),    GENERAL(rdi, "int64", 8),
    GENERAL(rbp, "data_ptr", 8), GENERAL(rsp, "data_ptr", 8), GENERAL(r8, "int64", 8),
    GENERAL(r9, "int64", 8),     GENERAL(r10, "int64", 8),    GENERAL(r11, "int64", 8),
    GENERAL(r12, "int64", 8),    GENERAL(r13, "int64", 8),    GENERAL(r14, "int64", 8),
    GENERAL(r15, "int64", 8),    GENERAL(rip, "code_ptr", 8), GENERAL(eflags, "i386_eflags", 4),
    GENERAL(cs, "int32", 4),     GENERAL(ss, "int32", 4),     GENERAL(ds, "int32", 4),
    GENERAL(es, "int32", 4),     GENERAL(fs, "int32", 4),     GENERAL(gs, "int32", 4)};
constexpr General kSystem[] = {GENERAL(orig_rax, "int", 8), GENERAL(fs_base, "int", 8), GENERAL(gs_base, "int", 8)};
#undef GENERAL
constexpr const char* kFloat[] = {"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"};
constexpr std::size_t kFloats = 8, kVectorRegisters = 16;

constexpr const char* kTypes =
    "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/><vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
    "<vector id=\"v16i8\" type=\"int8\" count=\"16\"/><vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
    "<vector id=\"v4i32\" type=\"int32\" count=\"4\"/><vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
    "<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/><field name=\"v2_double\" type=\"v2d\"/>"
    "<field name=\"v16_int8\" type=\"v16i8\"/><field name=\"v8_int16\" type=\"v8i16\"/>"
    "<field name=\"v4_int32\" type=\"v4i32\"/><field name=\"v2_int64\" type=\"v2i64\"/>"
    "<field name=\"uint128\" type=\"uint128\"/></union>";
constexpr const char* kFlagsType =
    "<flags id=\"i386_eflags\" size=\"4\"><field name=\"\" start=\"22\" end=\"31\"/><field name=\"CF\" start=\"0\" "
    "end=\"0\"/><field name=\"PF\" start=\"2\" end=\"2\"/><field name=\"AF\" start=\"4\" end=\"4\"/><field name=\"ZF\" "
    "start=\"6\" end=\"6\"/><field name=\"SF\" start=\"7\" end=\"7\"/><field name=\"TF\" start=\"8\" end=\"8\"/><field "
    "name=\"IF\" start=\"9\" end=\"9\"/><field name=\"DF\" start=\"10\" end=\"10\"/><field name=\"OF\" start=\"11\" "
    "end=\"11\"/></flags>";

std::string described(const std::string& name, std::size_t bits, const std::string& type, const char* group = nullptr) {
  return fmt::format("<reg name=\"{}\" bitsize=\"{}\" type=\"{}\"{}/>", name, bits, type,
                     group == nullptr ? "" : fmt::format(" group=\"{}\"", group));
}

std::string feature(const std::string& name, const std::string& contents) {
  return fmt::format("<feature name=\"org.gnu.gdb.i386.{}\">{}</feature>", name, contents);
}

std::string described_general() {
  std::string text = kFlagsType;
  for (const General& one : kGeneral) text += described(one.name, one.bytes * 8, one.type);
  for (std::size_t i = 0; i < kFloats; i++) text += described(fmt::format("st{}", i), 80, "i387_ext");
  for (const char* name : kFloat) text += described(name, 32, "int", "float");
  return text;
}

// Converts a bit per register (1: in use) to two bits per register (3: empty).
std::uint32_t full_tags(std::uint8_t in_use) {
  std::uint32_t tags = 0;
  for (std::uint32_t i = 0; i < kFloats; i++)
    if ((in_use >> i & 1) == 0) tags |= 3u << 2 * i;
  return tags;
}

class RegisterBytes {
 public:
  void put(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    values.insert(values.end(), from, from + bytes);
  }
  void put_word(std::uint32_t word) { put(&word, sizeof word); }
  std::vector<std::byte> values;
};

template <typename T>
T at(const std::vector<std::byte>& state, std::size_t offset) {
  T value = {};
  if (offset + sizeof value <= state.size()) std::memcpy(&value, state.data() + offset, sizeof value);
  return value;
}

bool has_upper_halves(const std::vector<std::byte>& state) {
  return state.size() >= kUpperHalves + kVectorRegisters * kVectorBytes &&
         (at<std::uint64_t>(state, kInUse) & kHasUpperHalves) != 0;
}

void put_float(RegisterBytes& to, const std::vector<std::byte>& state) {
  for (std::size_t i = 0; i < kFloats; i++) to.put(state.data() + kStack + i * kVectorBytes, kFloatBytes);
  to.put_word(at<std::uint16_t>(state, kControl));
  to.put_word(at<std::uint16_t>(state, kStatus));
  to.put_word(full_tags(at<std::uint8_t>(state, kTags)));
  to.put_word(at<std::uint32_t>(state, kIp + 4) & 0xffff);
  to.put_word(at<std::uint32_t>(state, kIp));
  to.put_word(at<std::uint32_t>(state, kData + 4) & 0xffff);
  to.put_word(at<std::uint32_t>(state, kData));
  to.put_word(at<std::uint16_t>(state, kOpcode) & 0x7ff);
}

}  // namespace

std::string target_description() {
  std::string vectors = kTypes, system, segments, halves;
  for (std::size_t i = 0; i < kVectorRegisters; i++) vectors += described(fmt::format("xmm{}", i), 128, "vec128");
  vectors += described("mxcsr", 32, "int", "vector");
  system = described("orig_rax", 64, "int", "system");
  segments = described("fs_base", 64, "int") + described("gs_base", 64, "int");
  for (std::size_t i = 0; i < kVectorRegisters; i++) halves += described(fmt::format("ymm{}h", i), 128, "uint128");
  return "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target><architecture>i386:x86-64"
         "</architecture><osabi>GNU/Linux</osabi>" +
         feature("core", described_general()) + feature("sse", vectors) + feature("linux", system) +
         feature("segments", segments) + feature("avx", halves) + "</target>";
}

std::vector<std::byte> all_registers(const TracedProcess& process, pid_t lwp) {
  const user_regs_struct general = process.registers(lwp);
  std::vector<std::byte> state = process.vector_state(lwp);
  if (state.size() < kLegacyBytes) state.resize(kLegacyBytes);
  RegisterBytes to;
  for (const General& one : kGeneral) to.put(reinterpret_cast<const std::byte*>(&general) + one.offset, one.bytes);
  put_float(to, state);
  for (std::size_t i = 0; i < kVectorRegisters; i++) to.put(state.data() + kVectors + i * kVectorBytes, kVectorBytes);
  to.put_word(at<std::uint32_t>(state, kMxcsr));
  for (const General& one : kSystem) to.put(reinterpret_cast<const std::byte*>(&general) + one.offset, one.bytes);
  const std::byte none[kVectorBytes] = {};
  for (std::size_t i = 0; i < kVectorRegisters; i++)
    to.put(has_upper_halves(state) ? state.data() + kUpperHalves + i * kVectorBytes : none, kVectorBytes);
  return to.values;
}

void set_all_registers(TracedProcess& process, pid_t lwp, const std::vector<std::byte>& values) {
  const std::vector<std::byte> before = all_registers(process, lwp);
  if (values.size() != before.size()) return;
  user_regs_struct general = process.registers(lwp);
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t bytes) {
    std::memcpy(to, values.data() + at, bytes);
    at += bytes;
  };
  for (const General& one : kGeneral) take(reinterpret_cast<std::byte*>(&general) + one.offset, one.bytes);
  std::vector<std::byte> state = process.vector_state(lwp);
  const bool has_state = state.size() >= kLegacyBytes;
  if (!has_state) state.resize(kLegacyBytes);
  for (std::size_t i = 0; i < kFloats; i++) take(state.data() + kStack + i * kVectorBytes, kFloatBytes);
  at += kFloats * sizeof(std::uint32_t);  // the control words are not changed
  for (std::size_t i = 0; i < kVectorRegisters; i++) take(state.data() + kVectors + i * kVectorBytes, kVectorBytes);
  take(state.data() + kMxcsr, sizeof(std::uint32_t));
  for (const General& one : kSystem) take(reinterpret_cast<std::byte*>(&general) + one.offset, one.bytes);
  if (has_upper_halves(state))
    for (std::size_t i = 0; i < kVectorRegisters; i++)
      take(state.data() + kUpperHalves + i * kVectorBytes, kVectorBytes);
  process.set_registers(lwp, general);
  if (has_state) process.set_vector_state(lwp, state);
}

std::pair<std::size_t, std::size_t> place_of_register(std::size_t number) {
  std::size_t at = 0;
  const auto find = [&](std::size_t count, std::size_t bytes) -> bool {
    if (number < count) {
      at += number * bytes;
      return true;
    }
    number -= count;
    at += count * bytes;
    return false;
  };
  constexpr std::size_t kWide = 17, kNarrow = 7;  // rax to rip; eflags and the segments
  if (find(kWide, kWords)) return {at, kWords};
  if (find(kNarrow, 4)) return {at, 4};
  if (find(kFloats, kFloatBytes)) return {at, kFloatBytes};
  if (find(kFloats, 4)) return {at, 4};
  if (find(kVectorRegisters, kVectorBytes)) return {at, kVectorBytes};
  if (find(1, 4)) return {at, 4};
  if (find(std::size(kSystem), kWords)) return {at, kWords};
  if (find(kVectorRegisters, kVectorBytes)) return {at, kVectorBytes};
  return {0, 0};
}

}  // namespace reweave
