#include "recorder/core/signals/fp_state.h"

#include "recorder/core/base/sys.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kExtendedMagic = 0x46505853, kSecondMagic = 0x46505845;
constexpr std::uint64_t kMxcsr = 24, kMxcsrMask = 28;
constexpr std::uint64_t kRegistersEnd = 416;   // of the legacy area; the 48 bytes that follow are never written
constexpr std::uint64_t kReservedStart = 464;  // the kernel's description of the state
constexpr std::uint64_t kLegacyBytes = 512;
constexpr std::uint64_t kHeaderEnd = kLegacyBytes + 64;
constexpr std::uint32_t kFirstExtended = 2, kComponents = 63;

constexpr std::uint64_t kAlwaysInUse = 3;  // x87 and SSE, whose initial values are not zero

constexpr std::uint32_t kBoundsControl = 4, kProtectionKeys = 9;

struct Component {
  std::uint32_t bytes, offset;
};

// The processor writes only this many bytes of a component; CPUID may give a larger size. The others keep what was in
// memory before.
std::uint32_t written_bytes(std::uint32_t number, std::uint32_t size) {
  constexpr std::uint32_t kBoundsControlBytes = 16;
  switch (number) {
    case kBoundsControl:
      return size < kBoundsControlBytes ? size : kBoundsControlBytes;
    case kProtectionKeys:
      return size < sizeof(std::uint32_t) ? size : sizeof(std::uint32_t);
    default:
      return size;
  }
}

// CPUID costs some ten microseconds in a virtual machine, so each component is asked for once.
Component component(std::uint32_t number) {
  static Component known[kComponents];
  Component& found = known[number];
  if (found.bytes != 0) return found;
  std::uint32_t bytes = 0xd, offset = 0, index = number, unused = 0;
  asm("cpuid" : "+a"(bytes), "=b"(offset), "+c"(index), "=d"(unused));
  return found = {written_bytes(number, bytes), offset};
}

// Offset of the protection keys; 0 if there are none.
std::uint64_t keys_offset(std::uint64_t bytes) {
  const std::uint32_t known = component(kProtectionKeys).offset;
  return known != 0 && known + sizeof(std::uint32_t) <= bytes ? known : 0;
}

bool all_zero(const std::byte* data, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; i++)
    if (data[i] != std::byte{0}) return false;
  return true;
}

// Copies the registers of the legacy area, without the bytes that hold what was in memory before. Of the 16 bytes of an
// x87 register 10 are defined: processors write zeros to the others, emulators leave them. The last x87 instruction and
// its operand are written by some processors only if an exception is pending.
void copy_registers(std::byte* to, const std::byte* from) {
  constexpr std::uint64_t kX87Start = 32, kX87End = 160, kX87Room = 16, kX87Bytes = 10;
  constexpr std::uint64_t kStatus = 2, kLastStart = 6, kLastEnd = 24;
  constexpr std::byte kPending{0x80};
  memcpy(to, from, kRegistersEnd);
  for (std::uint64_t at = kX87Start; at < kX87End; at += kX87Room) memset(to + at + kX87Bytes, 0, kX87Room - kX87Bytes);
  if ((from[kStatus] & kPending) == std::byte{0}) memset(to + kLastStart, 0, kLastEnd - kLastStart);
}

}  // namespace

std::uint64_t fp_state_bytes(const void* fp_state) {
  if (fp_state == nullptr) return 0;
  std::uint32_t words[2];  // magic1 and extended_size
  memcpy(words, static_cast<const std::byte*>(fp_state) + kReservedStart, sizeof words);
  return words[0] == kExtendedMagic ? words[1] : kLegacyBytes;
}

void copy_fp_state(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  memset(to, 0, bytes);
  if (bytes < kLegacyBytes) return;
  copy_registers(to, from);
  memcpy(to + kReservedStart, from + kReservedStart, kLegacyBytes - kReservedStart);
  if (bytes <= kHeaderEnd) return;
  memcpy(to + kLegacyBytes, from + kLegacyBytes, kHeaderEnd - kLegacyBytes);
  // Processors differ in whether a component with its initial values counts as in use.
  std::uint64_t in_use = 0, written = kAlwaysInUse;
  memcpy(&in_use, from + kLegacyBytes, sizeof in_use);
  for (std::uint32_t i = kFirstExtended; i < kComponents; i++) {
    if ((in_use >> i & 1) == 0) continue;
    const auto [size, offset] = component(i);
    if (std::uint64_t{offset} + size > bytes || all_zero(from + offset, size)) continue;
    memcpy(to + offset, from + offset, size);
    written |= std::uint64_t{1} << i;
  }
  memcpy(to + kLegacyBytes, &written, sizeof written);
  constexpr std::uint64_t kEndMark = 4;  // FP_XSTATE_MAGIC2
  memcpy(to + bytes - kEndMark, from + bytes - kEndMark, kEndMark);
}

void clear_fp_state(std::byte* fp_state, std::uint64_t bytes) {
  constexpr std::uint64_t kControl = 0, kMxcsrEnd = 32;  // of the legacy area
  constexpr std::uint16_t kInitialControl = 0x37f;
  constexpr std::uint32_t kInitialMxcsr = 0x1f80;
  if (bytes < kLegacyBytes) return;
  std::byte mask[kMxcsrEnd - kMxcsr - sizeof kInitialMxcsr];
  memcpy(mask, fp_state + kMxcsr + sizeof kInitialMxcsr, sizeof mask);
  memset(fp_state, 0, kRegistersEnd);
  memcpy(fp_state + kControl, &kInitialControl, sizeof kInitialControl);
  memcpy(fp_state + kMxcsr, &kInitialMxcsr, sizeof kInitialMxcsr);
  memcpy(fp_state + kMxcsr + sizeof kInitialMxcsr, mask, sizeof mask);
  if (bytes <= kHeaderEnd) return;
  std::uint64_t in_use = 0;
  memcpy(&in_use, fp_state + kLegacyBytes, sizeof in_use);
  in_use &= std::uint64_t{1} << kProtectionKeys;
  memcpy(fp_state + kLegacyBytes, &in_use, sizeof in_use);
}

namespace {

constexpr std::uint32_t kDefaultMxcsrMask = 0xffbf;  // for processors that report none

// struct _fpx_sw_bytes
struct StateNote {
  std::uint32_t magic, extended_bytes;
  std::uint64_t components;
  std::uint32_t bytes;
};

StateNote note_of(const std::byte* fp_state) {
  StateNote note;
  memcpy(&note, fp_state + kReservedStart, sizeof note);
  return note;
}

std::uint32_t word_at(const std::byte* fp_state, std::uint64_t offset) {
  std::uint32_t word;
  memcpy(&word, fp_state + offset, sizeof word);
  return word;
}

// Bytes of the state that XRSTOR restores from `from`; 0 if there is only the legacy area, which FXRSTOR restores
// (check_xstate_in_sigframe in the kernel's arch/x86/kernel/fpu/signal.c).
std::uint64_t extended_bytes(const StateNote& ours, const std::byte* from) {
  const StateNote note = note_of(from);
  const bool sound = ours.magic == kExtendedMagic && note.magic == kExtendedMagic && note.bytes >= kHeaderEnd &&
                     note.bytes <= ours.bytes && note.bytes <= note.extended_bytes;
  return sound && word_at(from, note.bytes) == kSecondMagic ? note.bytes : 0;
}

// XRSTOR faults if the header names a component that the processor does not have.
bool is_sound_header(const StateNote& ours, const std::byte* from) {
  std::uint64_t in_use = 0;
  memcpy(&in_use, from + kLegacyBytes, sizeof in_use);
  return (in_use & ~ours.components) == 0 &&
         all_zero(from + kLegacyBytes + sizeof in_use, kHeaderEnd - kLegacyBytes - sizeof in_use);
}

// True if MXCSR has only bits that this processor knows.
bool is_sound_control(const std::byte* ours, const std::byte* from) {
  const std::uint32_t known = word_at(ours, kMxcsrMask);
  return (word_at(from, kMxcsr) & ~(known != 0 ? known : kDefaultMxcsrMask)) == 0;
}

// Copies the registers of the legacy area, but keeps this processor's MXCSR mask.
void take_registers(std::byte* ours, const std::byte* from) {
  const std::uint32_t known = word_at(ours, kMxcsrMask);
  memcpy(ours, from, kRegistersEnd);
  memcpy(ours + kMxcsrMask, &known, sizeof known);
}

}  // namespace

bool restore_fp_state(std::byte* fp_state, const std::byte* from) {
  constexpr std::uintptr_t kAlignment = 64, kLegacyAlignment = 16;
  if (from == nullptr) return true;
  const StateNote ours = note_of(fp_state);
  const std::uint64_t extended = extended_bytes(ours, from);
  if (reinterpret_cast<std::uintptr_t>(from) % (extended != 0 ? kAlignment : kLegacyAlignment) != 0) return false;
  if (!is_sound_control(fp_state, from)) return false;
  if (extended != 0 && !is_sound_header(ours, from)) return false;
  take_registers(fp_state, from);
  if (ours.magic != kExtendedMagic) return true;
  std::uint64_t in_use = kAlwaysInUse;
  if (extended != 0) {
    memcpy(&in_use, from + kLegacyBytes, sizeof in_use);
    in_use &= note_of(from).components;
    memcpy(fp_state + kHeaderEnd, from + kHeaderEnd, extended - kHeaderEnd);
  }
  memcpy(fp_state + kLegacyBytes, &in_use, sizeof in_use);
  return true;
}

namespace {

constexpr std::uint64_t kAvx = 4, kAvxOffset = kHeaderEnd, kAvxBytes = 256;
constexpr std::uint64_t kEverywhere = kAlwaysInUse | kAvx, kKeys = std::uint64_t{1} << kProtectionKeys;

std::uint64_t in_use_of(const std::byte* fp_state) {
  std::uint64_t in_use = 0;
  memcpy(&in_use, fp_state + kLegacyBytes, sizeof in_use);
  return in_use;
}

bool has_avx(const std::byte* fp_state) {
  return (note_of(fp_state).components & kAvx) != 0 && (in_use_of(fp_state) & kAvx) != 0;
}

// True if components other than SSE and AVX differ from their initial values, or if this is unknown because this
// processor lacks the component.
bool has_more(const std::byte* fp_state) {
  const StateNote note = note_of(fp_state);
  if (note.magic != kExtendedMagic) return false;
  const std::uint64_t more = in_use_of(fp_state) & ~(kEverywhere | kKeys);
  for (std::uint32_t i = kFirstExtended; i < kComponents; i++) {
    if ((more >> i & 1) == 0) continue;
    const auto [size, offset] = component(i);
    const bool known = size != 0 && std::uint64_t{offset} + size <= note.bytes;
    if (!known || !all_zero(fp_state + offset, size)) return true;
  }
  return false;
}

}  // namespace

FpLayout fp_layout_of(const void* fp_state) {
  const auto* state = static_cast<const std::byte*>(fp_state);
  if (state == nullptr || note_of(state).magic != kExtendedMagic) return {};
  const StateNote note = note_of(state);
  return {note.extended_bytes, note.bytes, note.components, word_at(state, kMxcsrMask)};
}

bool lay_out_fp_state(std::byte* to, const std::byte* from, const FpLayout& layout) {
  memset(to, 0, layout.extended_bytes);
  copy_registers(to, from);
  const auto mask = static_cast<std::uint32_t>(layout.mxcsr_mask);
  memcpy(to + kMxcsrMask, &mask, sizeof mask);
  const StateNote note = {kExtendedMagic, layout.extended_bytes, layout.components, layout.bytes};
  memcpy(to + kReservedStart, &note, sizeof note);
  memcpy(to + layout.bytes, &kSecondMagic, sizeof kSecondMagic);
  std::uint64_t written = kAlwaysInUse;
  if (has_avx(from) && (layout.components & kAvx) != 0 && !all_zero(from + kAvxOffset, kAvxBytes)) {
    memcpy(to + kAvxOffset, from + kAvxOffset, kAvxBytes);
    written |= kAvx;
  }
  memcpy(to + kLegacyBytes, &written, sizeof written);
  return !has_more(from);
}

bool restore_laid_out(std::byte* fp_state, const std::byte* from, const FpLayout& layout) {
  if (from == nullptr) return true;
  const FpLayout given = fp_layout_of(from);
  const bool extended = given.bytes == layout.bytes && word_at(from, layout.bytes) == kSecondMagic;
  if (extended && (in_use_of(from) & ~layout.components) != 0) return false;
  if (!is_sound_control(fp_state, from)) return false;
  take_registers(fp_state, from);
  if (note_of(fp_state).magic != kExtendedMagic) return true;
  std::uint64_t in_use = kAlwaysInUse | (in_use_of(fp_state) & kKeys);
  if (extended && has_avx(from) && (note_of(fp_state).components & kAvx) != 0) {
    memcpy(fp_state + kAvxOffset, from + kAvxOffset, kAvxBytes);
    in_use |= kAvx;
  }
  memcpy(fp_state + kLegacyBytes, &in_use, sizeof in_use);
  return true;
}

std::uint32_t protection_keys_in(const std::byte* fp_state, std::uint64_t bytes) {
  const std::uint64_t offset = keys_offset(bytes);
  if (offset == 0) return 0;
  std::uint64_t in_use = 0;
  std::uint32_t keys = 0;
  memcpy(&in_use, fp_state + kLegacyBytes, sizeof in_use);
  if ((in_use >> kProtectionKeys & 1) != 0) memcpy(&keys, fp_state + offset, sizeof keys);
  return keys;
}

void put_protection_keys(std::byte* fp_state, std::uint64_t bytes, std::uint32_t keys) {
  const std::uint64_t offset = keys_offset(bytes);
  if (offset == 0) return;
  std::uint64_t in_use = 0;
  memcpy(&in_use, fp_state + kLegacyBytes, sizeof in_use);
  in_use |= std::uint64_t{1} << kProtectionKeys;
  memcpy(fp_state + kLegacyBytes, &in_use, sizeof in_use);
  memcpy(fp_state + offset, &keys, sizeof keys);
}

}  // namespace reweave::core
