// Protection keys (pkeys(7)): rights to memory that a thread has in a register, PKRU. The kernel gives each signal
// handler the rights to key 0 only, the core's among them; what the core does for the program must be done with the
// program's.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// The process has allocated keys; without that nothing here costs anything.
extern bool keys_in_use;

// pkey_alloc(2) for the program that `context` is of.
long allocate_key(KernelContext& context, std::uint64_t flags, std::uint64_t rights);

void set_rights(std::uint32_t rights);
// Those in a signal frame, and what a handler of the program begins with.
std::uint32_t rights_in(const KernelContext& context);
void give_handlers_rights(std::byte* fp_state, std::uint64_t bytes);

// At the start of a handler of the core that works for the program, or that looks at its memory.
inline void take_rights_of(const KernelContext& context) {
  if (keys_in_use) set_rights(rights_in(context));
}
inline void take_all_rights() {
  if (keys_in_use) set_rights(0);
}

// All rights for as long as it lives.
class AllRights {
 public:
  AllRights();
  ~AllRights();
  AllRights(const AllRights&) = delete;
  AllRights& operator=(const AllRights&) = delete;

 private:
  std::uint32_t before_ = 0;
};

}  // namespace reweave::core
