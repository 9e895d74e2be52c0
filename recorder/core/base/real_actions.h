// The dispositions that the kernel has for signals. The target sees its own, which the core keeps.
#pragma once

#include <cstdint>

namespace reweave::core {

inline constexpr std::uint64_t kIgnored = 1;  // SIG_IGN

// Sets the kernel's disposition of a signal; `flags` as for sigaction(2), `mask` is blocked in the handler.
void set_real_action(int number, std::uint64_t handler, std::uint64_t flags, std::uint64_t mask = 0);

// Dies of `number` at once, by its default action.
[[noreturn]] void die_by_signal(int number);

}  // namespace reweave::core
