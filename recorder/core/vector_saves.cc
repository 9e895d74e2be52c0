#include "recorder/core/vector_saves.h"

#include "recorder/core/address_space.h"
#include "recorder/core/stubs.h"

#pragma GCC visibility push(hidden)
extern "C" {
extern const std::uint8_t core_save_vectors[], core_save_vectors_here[], core_save_vectors_end[];
extern const std::uint8_t core_restore_vectors[], core_restore_vectors_here[], core_restore_vectors_end[];
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

constexpr std::uint64_t kBytes = 5;  // of each of the instructions
constexpr std::uint64_t kStubBytes = 128;

// Code that is executed instead of an instruction, which is at `here` in it.
struct Stub {
  const std::uint8_t *start, *here, *end;
};

// glibc, sysdeps/x86_64/dl-trampoline.h: what is looked for.
struct Place {
  std::uint8_t instruction[kBytes];
  const std::uint8_t (&behind)[9];
  Stub stub;
};

// The arguments of _dl_fixup; the registers that it was given.
constexpr std::uint8_t kBehindSave[] = {0x48, 0x8b, 0x73, 0x10, 0x48, 0x8b, 0x7b, 0x08, 0xe8};
constexpr std::uint8_t kBehindRestore[] = {0x4c, 0x8b, 0x4c, 0x24, 0x30, 0x4c, 0x8b, 0x44, 0x24};
const Stub kSave = {core_save_vectors, core_save_vectors_here, core_save_vectors_end};
const Stub kRestore = {core_restore_vectors, core_restore_vectors_here, core_restore_vectors_end};

const Place kPlaces[] = {
    {{0x0f, 0xae, 0x64, 0x24, 0x40}, kBehindSave, kSave},        // xsave 0x40(%rsp)
    {{0x0f, 0xc7, 0x64, 0x24, 0x40}, kBehindSave, kSave},        // xsavec
    {{0x0f, 0xae, 0x6c, 0x24, 0x40}, kBehindRestore, kRestore},  // xrstor
    {{0x0f, 0xae, 0x4c, 0x24, 0x40}, kBehindRestore, kRestore},  // fxrstor
};

void replace(std::uint64_t at, const Stub& with) {
  const auto bytes = static_cast<std::uint64_t>(with.end - with.start);
  const std::uint64_t stub = new_stub(at, kStubBytes);
  if (stub == 0) return;
  {
    const Writable page(stub, kStubBytes);
    if (!page.done()) return;
    Assembler code(stub);
    code.copy(reinterpret_cast<std::uint64_t>(with.start), bytes);
    code.put(kJump, at + kBytes);
    Assembler(stub + static_cast<std::uint64_t>(with.here - with.start)).copy(at, kBytes);
  }
  write_jump(at, stub);
}

}  // namespace

bool replace_vector_save(std::uint64_t at) {
  for (const Place& place : kPlaces) {
    if (!is_at(at, place.instruction) || !is_at(at + kBytes, place.behind)) continue;
    replace(at, place.stub);
    return true;
  }
  return false;
}

}  // namespace reweave::core
