// The baton: of all threads of the target's tree exactly one runs, and this decides which.
//
// A participating thread calls, while it has the baton: schedule_point before each operation that others can observe;
// block / wake for emulated blocking; leave_baton / return_from_kernel around calls that may block in the kernel. When
// recording, choices come from the policy and from the times at which the kernel lets calls return; in a replay, from
// the recording. In both cases they are logged or checked as SwitchRecords, each at a global schedule point number.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Counts one schedule point and lets another thread run first if the policy chooses one. Returns holding the baton.
void schedule_point(const PendingOp& op);
// The slow path of a schedule point that the shim's fast path has already counted.
void counted_point(const PendingOp& op);
// Like schedule_point, but prefers another thread.
void yield_point(const PendingOp& op);

// After a call that woke others: if a woken thread came too late several times, because this thread took the lock again
// each time, that thread runs first. The next schedule point does this anyway.
void give_way_to_woken();

// Waits until another thread wakes (kind, key), the deadline passes, or a signal arrives (if interruptible).
struct WaitArgs {
  WaitKind kind;
  std::uint64_t key;
  std::uint64_t address;
  std::int64_t deadline = kNoDeadline;
  std::uint32_t bitset = 0xffffffff;
  std::int32_t owner_tid = 0;
};
// `reason`: recorded as the reason why the baton is given away.
WaitResult block(const WaitArgs& args, wire::SwitchReason reason = wire::SwitchReason::kBlocked);

// Around a call that may block in the kernel. Between the two functions the thread may touch nothing but its scratch
// memory.
void leave_baton();
void return_from_kernel();

// Recording: around a system call that rarely sleeps. The call is made with the baton. If it sleeps while other threads
// could run, it may be waiting for one of them, so the supervisor takes the baton (supervisor/target/watchdog.h).
// Between the two functions the thread must not touch anything that others use. lend_baton must follow a schedule point
// or another call that settles the thread.
void lend_baton();
// True: the baton was taken, and the thread has it again.
bool take_back_baton();
template <typename... Args>
long lent_call(long number, Args... args) {
  lend_baton();
  const long result = sys(number, args...);
  take_back_baton();
  return result;
}

// From a signal handler that interrupted the program's own code, with the baton: the thread's next point asks the
// policy.
void end_slice();

// Recording: the thread's time slice ended at `pc`. A thread that keeps ending its slices at the same place is waiting
// there, and gets shorter slices.
void note_slice_end(Thread& me, std::uint64_t pc);

// The first thing that a new kernel thread does: sleeps until it gets the baton.
void wait_for_first_turn();

// Ends the calling thread's participation: the baton passes on and never returns to it.
void retire_self();

// Recomputes when the next slow path is due; call after anything that consumed records.
void arm();

// Schedule points of the run up to this instant.
std::uint64_t settled_step();

// Interrupts the calling thread's wait, if any: called from a signal handler, with or without the baton.
void note_interruption();

}  // namespace reweave::core
