#include "recorder/core/code/vector_saves.h"

#include "recorder/core/code/stubs.h"
#include "recorder/core/memory/address_space.h"

#pragma GCC visibility push(hidden)
extern "C" {
extern const std::uint8_t core_save_vectors[], core_save_vectors_masked[], core_save_vectors_here[],
    core_save_vectors_end[];
extern const std::uint8_t core_restore_vectors[], core_restore_vectors_masked[], core_restore_vectors_here[],
    core_restore_vectors_end[];
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

constexpr std::uint64_t kBytes = 5;  // of each instruction
constexpr std::uint64_t kStubBytes = 128;

// Code executed instead of an instruction; the instruction is copied to `here`. The four bytes before `masked` are a
// constant: the components to be saved.
struct Stub {
  const std::uint8_t *start, *masked, *here, *end;
};

// glibc, sysdeps/x86_64/dl-trampoline.h: the instructions searched for.
struct Place {
  std::uint8_t instruction[kBytes];
  const std::uint8_t (&behind)[9];
  Stub stub;
};

// The code that follows: after a save it loads the arguments of _dl_fixup, after a restore it restores the registers.
constexpr std::uint8_t kBehindSave[] = {0x48, 0x8b, 0x73, 0x10, 0x48, 0x8b, 0x7b, 0x08, 0xe8};
constexpr std::uint8_t kBehindRestore[] = {0x4c, 0x8b, 0x4c, 0x24, 0x30, 0x4c, 0x8b, 0x44, 0x24};
const Stub kSave = {core_save_vectors, core_save_vectors_masked, core_save_vectors_here, core_save_vectors_end};
const Stub kRestore = {core_restore_vectors, core_restore_vectors_masked, core_restore_vectors_here,
                       core_restore_vectors_end};

const Place kPlaces[] = {
    {{0x0f, 0xae, 0x64, 0x24, 0x40}, kBehindSave, kSave},        // xsave 0x40(%rsp)
    {{0x0f, 0xc7, 0x64, 0x24, 0x40}, kBehindSave, kSave},        // xsavec
    {{0x0f, 0xae, 0x6c, 0x24, 0x40}, kBehindRestore, kRestore},  // xrstor
    {{0x0f, 0xae, 0x4c, 0x24, 0x40}, kBehindRestore, kRestore},  // fxrstor
};

// The loader has one save and one restore for each register size.
constexpr std::uint32_t kMostSaves = 16;
struct Save {
  std::uint64_t at;
  const Stub* with;
};
Save saves[kMostSaves];
std::uint32_t save_count;

void write_stub(const Save& save, std::uint64_t stub) {
  const Stub& with = *save.with;
  const auto place_of = [&](const std::uint8_t* in_stub) {
    return stub + static_cast<std::uint64_t>(in_stub - with.start);
  };
  Assembler code(stub);
  code.copy(reinterpret_cast<std::uint64_t>(with.start), static_cast<std::uint64_t>(with.end - with.start));
  code.put(kJump, save.at + kBytes);
  Assembler(place_of(with.here)).copy(save.at, kBytes);
  const auto components = static_cast<std::uint32_t>(state().recorded_fp.components);
  if (components == 0) return;  // unknown
  Assembler(place_of(with.masked) - sizeof components)
      .copy(reinterpret_cast<std::uint64_t>(&components), sizeof components);
}

}  // namespace

bool remember_vector_save(std::uint64_t at) {
  for (const Place& place : kPlaces) {
    if (!is_at(at, place.instruction) || !is_at(at + kBytes, place.behind)) continue;
    if (save_count == kMostSaves) return false;
    saves[save_count++] = {at, &place.stub};
    return true;
  }
  return false;
}

void replace_vector_saves() {
  const std::uint32_t count = save_count;
  save_count = 0;
  const std::uint64_t stubs = count == 0 ? 0 : new_stub(saves[0].at, count * kStubBytes);
  if (stubs == 0) return;
  const std::uint64_t first = saves[0].at, last = saves[count - 1].at;  // in the order in which they were found
  const Writable stub_pages(stubs, count * kStubBytes), code_pages(first, last + kBytes - first);
  for (std::uint32_t i = 0; i < count && stub_pages.done() && code_pages.done(); i++) {
    write_stub(saves[i], stubs + i * kStubBytes);
    Assembler(saves[i].at).put(kJump, stubs + i * kStubBytes);
  }
}

}  // namespace reweave::core
