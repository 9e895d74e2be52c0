// Protection keys (pkeys(7)): a thread's rights to memory, held in its register PKRU. The kernel starts each signal
// handler, including the core's, with rights to key 0 only. What the core does for the program needs the program's
// rights.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// The process has allocated keys. While it has not, nothing here costs anything.
extern bool keys_in_use;

// pkey_alloc(2) for the program; `context` is its state.
long allocate_key(KernelContext& context, std::uint64_t flags, std::uint64_t rights);

void set_rights(std::uint32_t rights);
// The rights saved in a signal frame. / Sets those with which a handler of the program starts.
std::uint32_t rights_in(const KernelContext& context);
void give_handlers_rights(std::byte* fp_state, std::uint64_t bytes);

// At the start of a handler of the core that works for the program (take_rights_of) or only reads its memory
// (take_all_rights).
inline void take_rights_of(const KernelContext& context) {
  if (keys_in_use) set_rights(rights_in(context));
}
inline void take_all_rights() {
  if (keys_in_use) set_rights(0);
}

// Holds all rights during its lifetime.
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
