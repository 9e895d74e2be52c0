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

// glibc, sysdeps/x86_64/dl-trampoline.h: what is looked for, and the code behind it.
struct Place {
  std::uint8_t instruction[kBytes];
  std::uint8_t behind[9];
  const std::uint8_t *stub, *here, *stub_end;  // what is executed instead; `here` is the instruction itself
};

// The arguments of _dl_fixup; the registers that it was given.
const Place kPlaces[] = {
    {{0x0f, 0xae, 0x64, 0x24, 0x40},  // xsave 0x40(%rsp)
     {0x48, 0x8b, 0x73, 0x10, 0x48, 0x8b, 0x7b, 0x08, 0xe8},
     core_save_vectors,
     core_save_vectors_here,
     core_save_vectors_end},
    {{0x0f, 0xc7, 0x64, 0x24, 0x40},  // xsavec 0x40(%rsp)
     {0x48, 0x8b, 0x73, 0x10, 0x48, 0x8b, 0x7b, 0x08, 0xe8},
     core_save_vectors,
     core_save_vectors_here,
     core_save_vectors_end},
    {{0x0f, 0xae, 0x6c, 0x24, 0x40},  // xrstor 0x40(%rsp)
     {0x4c, 0x8b, 0x4c, 0x24, 0x30, 0x4c, 0x8b, 0x44, 0x24},
     core_restore_vectors,
     core_restore_vectors_here,
     core_restore_vectors_end},
    {{0x0f, 0xae, 0x4c, 0x24, 0x40},  // fxrstor 0x40(%rsp)
     {0x4c, 0x8b, 0x4c, 0x24, 0x30, 0x4c, 0x8b, 0x44, 0x24},
     core_restore_vectors,
     core_restore_vectors_here,
     core_restore_vectors_end},
};

void replace(std::uint64_t at, const Place& place) {
  const auto bytes = static_cast<std::uint64_t>(place.stub_end - place.stub);
  const std::uint64_t stub = new_stub(at, kStubBytes);
  if (stub == 0) return;
  {
    const Writable page(stub, kStubBytes);
    if (!page.done()) return;
    Assembler code(stub);
    code.copy(reinterpret_cast<std::uint64_t>(place.stub), bytes);
    code.put(kJump, at + kBytes);
    Assembler(stub + static_cast<std::uint64_t>(place.here - place.stub)).copy(at, kBytes);
  }
  write_jump(at, stub);
}

}  // namespace

bool replace_vector_save(std::uint64_t at) {
  for (const Place& place : kPlaces) {
    if (!is_at(at, place.instruction) || !is_at(at + kBytes, place.behind)) continue;
    replace(at, place);
    return true;
  }
  return false;
}

}  // namespace reweave::core
