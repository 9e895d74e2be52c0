#include "recorder/core/vector_saves.h"

#include "recorder/core/address_space.h"
#include "recorder/core/stubs.h"

#pragma GCC visibility push(hidden)
extern "C" {
extern const std::uint8_t core_save_vectors[], core_save_vectors_here[], core_save_vectors_end[];
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

// glibc, sysdeps/x86_64/dl-trampoline.h: the save, then the arguments of _dl_fixup.
constexpr std::uint64_t kSaveBytes = 5;
constexpr std::uint8_t kXsave[kSaveBytes] = {0x0f, 0xae, 0x64, 0x24, 0x40};   // xsave 0x40(%rsp)
constexpr std::uint8_t kXsavec[kSaveBytes] = {0x0f, 0xc7, 0x64, 0x24, 0x40};  // xsavec 0x40(%rsp)
constexpr std::uint8_t kBehind[] = {0x48, 0x8b, 0x73, 0x10, 0x48, 0x8b, 0x7b, 0x08, 0xe8};
constexpr std::uint64_t kStubBytes = 128;

bool is_save(std::uint64_t at) {
  const std::uint8_t* code = code_at(at);
  if (memcmp(code, kXsave, kSaveBytes) != 0 && memcmp(code, kXsavec, kSaveBytes) != 0) return false;
  return memcmp(code + kSaveBytes, kBehind, sizeof kBehind) == 0;
}

void replace_save(std::uint64_t at) {
  const auto bytes = static_cast<std::uint64_t>(core_save_vectors_end - core_save_vectors);
  const std::uint64_t stub = new_stub(at, kStubBytes);
  if (stub == 0) return;
  {
    const Writable page(stub, kStubBytes);
    if (!page.done()) return;
    Assembler code(stub);
    code.copy(reinterpret_cast<std::uint64_t>(core_save_vectors), bytes);
    code.put(kJump, at + kSaveBytes);
    Assembler(stub + static_cast<std::uint64_t>(core_save_vectors_here - core_save_vectors)).copy(at, kSaveBytes);
  }
  write_jump(at, stub);
}

}  // namespace

bool replace_vector_save(std::uint64_t at) {
  if (!is_save(at)) return false;
  replace_save(at);
  return true;
}

}  // namespace reweave::core
