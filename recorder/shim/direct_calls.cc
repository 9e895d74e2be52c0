// Before the program's code runs, lets its calls of this library's functions jump here directly
// (core/code/direct_calls.h). Does so only if the loader would also find these functions here first, that is, if no
// library is loaded between the program and this one.
#include <link.h>

#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

[[gnu::constructor]] void have_calls_lead_here() {
  const link_map* program = _r_debug.r_map;
  const link_map* next = program == nullptr ? nullptr : program->l_next;
  if (next != nullptr && next->l_ld == _DYNAMIC) api().call_directly({next->l_addr, address_of(next->l_ld), 0});
}

}  // namespace

}  // namespace reweave::shim
