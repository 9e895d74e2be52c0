// The core's interface for the shim: a table of functions that run on the core's stack.
//
// Every function may let other threads run before it returns. Addresses are the target's; `pc` is the place in the
// target to which the operation belongs.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// A function of the shim whose only effect, when nothing is traced or checked, is to count one schedule point. `point`:
// where to continue when the countdown has run out, with the caller's address on the stack; null if the function does
// not even count. `function`: the variant used in this run.
struct CountedFunction {
  const char* name;
  void (*point)();
  void (*function)(void*);
};

struct CountedFunctions {
  const CountedFunction* items;
  std::uint32_t count;
};

// A program or library in memory, `bias` bytes above its link address, with its code at `code` and its dynamic section
// (elf(5)) at `dynamic`.
struct LoadedObject {
  std::uint64_t bias, dynamic, code;
};

struct CoreApi {
  // Waits until woken, until `deadline` (a struct timespec* on `clock`, absolute; null: none), or, with kSemaphore,
  // until a signal. `owner_tid`: the thread that holds the object, if known; it is named in the report of a deadlock.
  WaitResult (*block)(WaitKind kind, std::uint64_t address, const void* deadline, int clock, std::int32_t owner_tid);
  std::uint32_t (*wake)(WaitKind kind, std::uint64_t address, std::uint32_t count);
  // Trace sink: waits until the out ring has room for a packed record.
  void (*trace_room)();
  // Called when the program is about to enter main.
  void (*at_main)();
  // Ends the run with OutcomeKind::kMemoryError.
  void (*memory_error)(const char* what, std::uint64_t address, std::uint64_t pc);
  // Tells the core that the object calls `functions`, which differ in a traced run. `only_counting`: the calls may be
  // replaced by faster code.
  void (*note_instrumented)(const LoadedObject& object, const CountedFunctions& functions, bool only_counting);
  // Returns a number below `count`, which each explored run may choose differently; 0 in a recording made without a
  // search.
  std::uint64_t (*choose)(std::uint64_t count);
  // Lets the program's calls jump to the functions of `shim` directly, bypassing the PLT.
  void (*call_directly)(const LoadedObject& shim);
};

// The slow path of a schedule point is not in the table, because it is not an ordinary call. Recording and replay take
// it at different points, so it must leave no trace in the target's registers or below its stack pointer. The shim
// fills in Thread::point_* and jumps to Thread::point_entry; the countdown has already counted the point. A traced
// replay asks for the call stack of the next event in the same way, through Thread::stack_entry with point_pc; since no
// other replay does so, it leaves no trace either.

// Pseudo system call of the shim: delivers due signals (Thread::deliver_due). Never logged.
inline constexpr long kDeliverSignals = 0x5257;

}  // namespace reweave
