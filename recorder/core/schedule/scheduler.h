// The baton: of all threads of the target's tree exactly one runs, and this decides which.
//
// A thread that takes part calls, holding the baton: schedule_point before each operation that others can see,
// block / wake for emulated blocking, leave_baton / return_from_kernel around calls that may block in the kernel.
// Recording, the choices come from the policy and from when the kernel lets calls return; replaying, from the
// recording. Either way they are logged, or checked, as SwitchRecords at a global schedule point number.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Counts one schedule point and lets another thread run first if the policy says so. Returns holding the baton.
void schedule_point(const PendingOp& op);
// The slow path of a schedule point that the shim's fast path has already counted.
void counted_point(const PendingOp& op);
// As schedule_point, and prefers another thread.
void yield_point(const PendingOp& op);

// Behind a call that woke others: if one of them was woken in vain again and again, for this thread took the lock anew
// each time before the other had its turn, that one runs first. The next schedule point does this by itself.
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
// `reason`: why the baton is given away, as the recording has it.
WaitResult block(const WaitArgs& args, wire::SwitchReason reason = wire::SwitchReason::kBlocked);

// Around a call that may block in the kernel. Between the two the thread may touch nothing but its scratch memory.
void leave_baton();
void return_from_kernel();

// Recording, around a call that seldom sleeps: made with the baton, unless it does sleep while others could run, who
// may be those it waits for. Then the supervisor takes the baton (supervisor/watchdog.h). Between the two the thread
// may touch nothing that others use. Right behind a schedule point, or what else settles the thread.
void lend_baton();
// True: it was taken, and the thread has it again.
bool take_back_baton();
template <typename... Args>
long lent_call(long number, Args... args) {
  lend_baton();
  const long result = sys(number, args...);
  take_back_baton();
  return result;
}

// From a signal handler that interrupted the program's own code, with the baton: its next point asks the policy.
void end_slice();

// Recording: the thread's time slice ended at `pc`. One that ends its slices at the same place again and again waits
// there, and gets shorter ones.
void note_slice_end(Thread& me, std::uint64_t pc);

// First thing that a new real thread does: sleeps until it is given the baton.
void wait_for_first_turn();

// Ends the calling thread's part: the baton goes on, and this thread never gets it again.
void retire_self();

// Recomputes when the next slow path is due; call after anything that consumed records.
void arm();

// Schedule points of the run up to this instant.
std::uint64_t settled_step();

// Interrupts the calling thread's wait, if it waits: called from a signal handler, with or without the baton.
void note_interruption();

}  // namespace reweave::core
