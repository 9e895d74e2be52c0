// The kernel's own dispositions of signals, where ours are the target's only as far as it can tell.
#pragma once

#include <cstdint>

namespace reweave::core {

// The kernel's disposition of a signal; `flags` as for sigaction(2), `mask` is blocked in the handler.
void set_real_action(int number, std::uint64_t handler, std::uint64_t flags, std::uint64_t mask = 0);

// Dies of `number` at once, as by its default action.
[[noreturn]] void die_by_signal(int number);

}  // namespace reweave::core
