#include "formats/code/access_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "formats/code/machine_code.h"
#include "formats/elf/elf_file.h"

namespace reweave {
namespace {

constexpr std::size_t kLooked = 48;  // bytes of code examined after a load
constexpr std::uint64_t kPointerBytes = 8;

constexpr std::uint8_t kRexW = 0x48;  // with the bits R, X, B free
constexpr std::uint8_t kMove = 0x8b, kMoveTo = 0x89, kAddress = 0x8d, kCall = 0xe8, kMoveConstant = 0xc7, kTest = 0x85,
                       kCompareByte = 0x83;

// An instruction REX.W opcode modrm [sib] [displacement] [immediate].
struct RexWInstruction {
  std::uint8_t opcode, extension, reg, rm;  // registers with their REX bits
  bool in_memory;                           // the r/m operand is in memory
  std::span<const std::uint8_t> immediate;  // all bytes that follow
};

std::optional<RexWInstruction> decode(std::span<const std::uint8_t> code) {
  if (code.size() < 3 || (code[0] & 0xf8) != kRexW) return std::nullopt;
  const std::uint8_t rex = code[0], modrm = code[2];
  RexWInstruction result{};
  result.opcode = code[1];
  result.extension = modrm >> 3 & 7;
  result.reg = static_cast<std::uint8_t>(result.extension | (rex & 4) << 1);
  result.rm = static_cast<std::uint8_t>((modrm & 7) | (rex & 1) << 3);
  const int mode = modrm >> 6;
  result.in_memory = mode != 3;
  std::size_t at = 3;
  if (result.in_memory && (modrm & 7) == 4) {
    if (code.size() <= at) return std::nullopt;
    if (mode == 0 && (code[at] & 7) == 5) at += 4;
    ++at;
  }
  if (mode == 1) at += 1;
  if (mode == 2 || (mode == 0 && (modrm & 7) == 5)) at += 4;
  if (at > code.size()) return std::nullopt;
  result.immediate = code.subspan(at);
  return result;
}

bool is_zero(std::span<const std::uint8_t> bytes, std::size_t count) {
  return bytes.size() >= count && std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count),
                                              [](std::uint8_t byte) { return byte == 0; });
}

// cmp qword [memory], 0
bool compares_memory(const RexWInstruction& i) {
  return i.opcode == kCompareByte && i.extension == 7 && i.in_memory && is_zero(i.immediate, 1);
}

}  // namespace

bool stores_null(std::span<const std::uint8_t> code) {
  const auto first = decode(code);
  return first && first->opcode == kMoveConstant && first->extension == 0 && first->in_memory &&
         is_zero(first->immediate, 4);
}

bool follows_pointer(std::span<const std::uint8_t> code) {
  const auto load = decode(code);
  if (!load || load->opcode != kMove || !load->in_memory) return false;
  const std::uint8_t pointer = load->reg;
  bool follows = false;
  for (std::size_t at = 0; at < std::min(load->immediate.size(), kLooked); ++at) {
    const auto rest = load->immediate.subspan(at);
    if (const auto next = decode(rest)) {
      const bool same = next->opcode == kTest && !next->in_memory && next->reg == next->rm;
      if ((same && next->reg == pointer) || compares_memory(*next)) return false;
      // The pointer is passed as the first argument: to the announcement of the next access, or to any other function.
      const bool copied = !next->in_memory && ((next->opcode == kMoveTo && next->reg == pointer && next->rm == kRdi) ||
                                               (next->opcode == kMove && next->rm == pointer && next->reg == kRdi));
      follows |= copied || (next->opcode == kAddress && next->in_memory && next->rm == pointer && next->reg == kRdi);
    }
    follows |= pointer == kRdi && at == 0 && rest[0] == kCall;
  }
  return follows;
}

const Fd& AccessCode::module(std::uint32_t number) {
  const auto [it, fresh] = modules_.try_emplace(number);
  if (!fresh) return it->second;
  const ModuleInfo& info = trace_.info().modules.at(number);
  Fd file = files_.open(info.path);
  if (info.build_id.empty() || build_id_of(file) == info.build_id) it->second = std::move(file);
  return it->second;
}

bool AccessCode::look_up(std::uint32_t site, EventKind kind) {
  const SiteLocation place = trace_.site_location(site);
  if (place.module == kNoModule) return false;
  std::array<std::uint8_t, 2 * kLooked> bytes;
  const std::span code(bytes.data(), read_at_address(module(place.module), place.offset, bytes));
  return kind == EventKind::kWrite ? stores_null(code) : follows_pointer(code);
}

std::uint8_t AccessCode::null_value(std::uint32_t site, EventKind kind, std::uint64_t bytes) {
  if (bytes != kPointerBytes || (kind != EventKind::kRead && kind != EventKind::kWrite)) return 0;
  auto& known = kind == EventKind::kRead ? reads_ : writes_;
  if (site >= known.size()) known.resize(site + std::size_t{1}, kUnknown);
  if (known[site] == kUnknown) known[site] = look_up(site, kind) ? kYes : kNo;
  return known[site] == kYes ? kNullValue : 0;
}

}  // namespace reweave
