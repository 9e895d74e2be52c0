// What the core offers the shim: a table of functions that run on the core's stack.
//
// Every function may let other threads run before it returns. Addresses are the target's; `pc` is the place in the
// target that the operation belongs to.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// A function that counts one schedule point and does no more, and where it goes on once the countdown has run out, with
// its caller's address on the stack. `point` is null if it does not even count. `function`: the one of this run.
struct CountedFunction {
  const char* name;
  void (*point)();
  void (*function)(void*);
};

struct CountedFunctions {
  const CountedFunction* items;
  std::uint32_t count;
};

// A program or library in memory, `bias` bytes above where it was linked: its code starts at `code`, its dynamic
// section (elf(5)) at `dynamic`.
struct LoadedObject {
  std::uint64_t bias, dynamic, code;
};

struct CoreApi {
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
  // The object calls `functions`, which are others in a traced run. `only_counting`: these may be made quicker.
  void (*note_instrumented)(const LoadedObject& object, const CountedFunctions& functions, bool only_counting);
  // The program may jump to the functions of `shim` without asking where they are.
  void (*call_directly)(const LoadedObject& shim);
};

// A schedule point's slow path is not in the table, for it is no ordinary call: which points take it differs between
// recording and replay, so it must leave no trace in the target's registers or below its stack pointer. The shim jumps
// to Thread::point_entry, with Thread::point_* filled in; the countdown has already counted the point. In the same way
// a traced replay asks for the call stack of the event that follows, by Thread::stack_entry with point_pc: no other
// replay does, so it leaves no trace either.

// Pseudo system call of the shim: deliver the signals that are due (Thread::deliver_due). Never logged.
inline constexpr long kDeliverSignals = 0x5257;

}  // namespace reweave
