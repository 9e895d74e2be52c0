// Threads that wait for each other: which ones an operation wakes. The scheduler implements waiting (block).
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

// Makes at most `count` waiters of (kind, key) ready, first come, first served; returns their number.
std::uint32_t wake(WaitKind kind, std::uint64_t key, std::uint32_t count, std::uint32_t bitset = 0xffffffff);
// Moves at most `count` waiters of futex `from` to futex `to`.
std::uint32_t requeue(std::uint64_t from, std::uint64_t to, std::uint64_t to_address, std::uint32_t count);

// Modelled: a system call that sleeps until `deadline` in modelled time, or until it is woken or a signal arrives.
WaitResult sleep_modelled(std::int64_t deadline);
void wake_sleeper(const Thread& thread);

}  // namespace reweave::core
