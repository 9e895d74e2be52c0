// The baton: of all threads of the target's tree exactly one runs, and this decides which.
//
// A thread that takes part calls, holding the baton: schedule_point before each operation that others can see,
// block / wake for emulated blocking, leave_baton / return_from_kernel around calls that may block in the kernel.
// Recording, the choices come from the policy and from when the kernel lets calls return; replaying, from the
// recording. Either way they are logged, or checked, as SwitchRecords at a global schedule point number.
#pragma once

#include "recorder/core/context.h"

namespace reweave::core {

// Counts one schedule point and lets another thread run first if the policy says so. Returns holding the baton.
void schedule_point(const PendingOp& op);
// The slow path of a schedule point that the shim's fast path has already counted.
void counted_point(const PendingOp& op);
// As schedule_point, and prefers another thread.
void yield_point(const PendingOp& op);

// Waits until another thread wakes (kind, key), the deadline passes, or a signal arrives (if interruptible).
struct WaitArgs {
  WaitKind kind;
  std::uint64_t key;
  std::uint64_t address;
  std::int64_t deadline = kNoDeadline;
  std::uint32_t bitset = 0xffffffff;
  std::int32_t owner_tid = 0;
};
WaitResult block(const WaitArgs& args);

// Modelled: a system call that sleeps until `deadline` of the modelled time, until it is woken or a signal arrives.
WaitResult sleep_modelled(std::int64_t deadline);
void wake_sleeper(const Thread& thread);

// Makes at most `count` waiters of (kind, key) ready, first come first served; returns how many.
std::uint32_t wake(WaitKind kind, std::uint64_t key, std::uint32_t count, std::uint32_t bitset = 0xffffffff);
// Moves at most `count` waiters of futex `from` to futex `to`.
std::uint32_t requeue(std::uint64_t from, std::uint64_t to, std::uint64_t to_address, std::uint32_t count);

// Around a call that may block in the kernel. Between the two the thread may touch nothing but its scratch memory.
void leave_baton();
void return_from_kernel();

// Replay: while the recording says that the baton moved here for `reason`, obeys.
void follow_recorded_switches(wire::SwitchReason reason);

// From a signal handler that interrupted the program's own code, with the baton: its next point asks the policy.
void end_slice();

// Recording: the thread's time slice ended at `pc`. One that ends its slices at the same place again and again waits
// there, and gets shorter ones.
void note_slice_end(Thread& me, std::uint64_t pc);

// A new thread slot, ready to run once its real thread waits for the baton.
Thread& add_thread(std::uint16_t process_index);
// First thing that a new real thread does: sleeps until it is given the baton.
void wait_for_first_turn();

// Ends the calling thread's part: the baton goes on, and this thread never gets it again.
void retire_self();
// Takes all other threads of a process out of the schedule (exec, process exit, fatal signal).
void retire_process_threads(std::uint16_t process_index, ThreadId except);

// Live: whether a process may be given the baton; it may not while a signal stops it.
void set_process_stopped(std::uint16_t process_index, bool stopped);
// Lets the threads of a process that was told to stop find out that they can run, if they can: the kernel stops no
// orphaned process group from the keyboard (setpgid(2)).
void try_stopped_process(std::uint16_t process_index);

// Replay: the calling thread was killed while it had the baton, which goes where the recording says.
void abandon_baton();

// Recomputes when the next slow path is due; call after anything that consumed records.
void arm();

// Schedule points of the run up to this instant.
std::uint64_t settled_step();

// Starts the policy of this run. Called once, by the first thread.
void begin_policy();

// Interrupts the calling thread's wait, if it waits: called from a signal handler, with or without the baton.
void note_interruption();

}  // namespace reweave::core
