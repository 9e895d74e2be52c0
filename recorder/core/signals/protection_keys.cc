#include "recorder/core/signals/protection_keys.h"

#include <sys/syscall.h>

#include "recorder/core/signals/fp_state.h"

namespace reweave::core {

bool keys_in_use;

namespace {

constexpr std::uint32_t kOfHandlers = 0x55555554;  // the kernel's default: access with key 0 only
constexpr std::uint32_t kBits = 2, kMask = 3;      // per key: no access, no writes

std::uint32_t rights() {
  std::uint32_t low, high;
  asm volatile("rdpkru" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

void set_rights(std::uint32_t rights) { asm volatile("wrpkru" ::"a"(rights), "c"(0), "d"(0) : "memory"); }

std::uint32_t rights_in(const KernelContext& context) {
  const auto* fp_state = reinterpret_cast<const std::byte*>(context.registers.fp_state);
  return protection_keys_in(fp_state, fp_state_bytes(fp_state));
}

void give_handlers_rights(std::byte* fp_state, std::uint64_t bytes) {
  if (keys_in_use) put_protection_keys(fp_state, bytes, kOfHandlers);
}

long allocate_key(KernelContext& context, std::uint64_t flags, std::uint64_t wanted) {
  const long key = sys(SYS_pkey_alloc, flags, wanted);
  if (is_error(key)) return key;
  keys_in_use = true;
  auto* fp_state = reinterpret_cast<std::byte*>(context.registers.fp_state);
  if (fp_state == nullptr) return key;  // called from a patched site: the register still has the program's rights
  const auto shift = static_cast<std::uint32_t>(key) * kBits;
  const std::uint32_t now = (rights_in(context) & ~(kMask << shift)) | (static_cast<std::uint32_t>(wanted) & kMask)
                                                                           << shift;
  put_protection_keys(fp_state, fp_state_bytes(fp_state), now);
  set_rights(now);
  return key;
}

AllRights::AllRights() {
  if (!keys_in_use) return;
  before_ = rights();
  set_rights(0);
}

AllRights::~AllRights() {
  if (keys_in_use) set_rights(before_);
}

}  // namespace reweave::core
