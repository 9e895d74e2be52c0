// What the core offers the shim: a table of functions that run on the core's stack.
//
// Every function may let other threads run before it returns. Addresses are the target's; `pc` is the place in the
// target that the operation belongs to.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

struct CoreApi {
  // The slow path of a schedule point before an operation of the target; the countdown has already counted it.
  void (*point)(OpKind kind, std::uint64_t object, std::uint64_t pc, std::uint32_t detail, std::uint32_t is_write);
  // Waits until woken, until `deadline` (a struct timespec* on `clock`, absolute; null: none), or for kSemaphore a
  // signal. `owner_tid`: who holds the object, if known, for the report of a deadlock.
  WaitResult (*block)(WaitKind kind, std::uint64_t address, const void* deadline, int clock, std::int32_t owner_tid);
  std::uint32_t (*wake)(WaitKind kind, std::uint64_t address, std::uint32_t count);
  // Trace sink: waits until the out ring has room for a packed record.
  void (*trace_room)();
  // The program is about to enter main.
  void (*at_main)();
  // Ends the run with OutcomeKind::kMemoryError.
  void (*memory_error)(const char* what, std::uint64_t address, std::uint64_t pc);
};

// Pseudo system call of the shim: deliver the signals that are due (Thread::deliver_due). Never logged.
inline constexpr long kDeliverSignals = 0x5257;

}  // namespace reweave
