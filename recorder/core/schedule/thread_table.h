// Threads in the schedule: added, removed, stopped and continued with their process.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Adds a thread slot, ready to run once its kernel thread waits for the baton.
Thread& add_thread(std::uint16_t process_index);
// Frees a slot that was added last and has no kernel thread.
void give_back(Thread& thread);

// The state of the kernel thread (proc(5), stat): a letter, or 0 if it does not exist.
char kernel_state(const Thread& thread);

// Takes a thread out of the schedule, if it is still there.
void retire(Thread& thread);
// Takes all other threads of a process out of the schedule (exec, process exit, fatal signal).
void retire_process_threads(std::uint16_t process_index, ThreadId except);

// Live: true if a thread must not be given the baton because a signal stops its process.
bool is_stopped(const Thread& thread);
// A process of the tree was stopped or continued by another.
void set_process_stopped(std::uint16_t process_index, bool stopped);
// May be called by any thread, without the baton: makes the threads of a process check whether they can run. A thread
// that was sent a stop signal may still be able to run, because the kernel ignores stop signals of the terminal for an
// orphaned process group (setpgid(2)).
void look_again(std::uint16_t process_index);

}  // namespace reweave::core
