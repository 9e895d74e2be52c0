// The threads that take part in the schedule: added, taken out, stopped and continued with their process.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// A new thread slot, ready to run once its real thread waits for the baton.
Thread& add_thread(std::uint16_t process_index);
// Takes back a slot that was added last and that no real thread has got.
void give_back(Thread& thread);

// What the kernel says of the real thread (proc(5), the state in stat): a letter, or 0 if it knows none.
char kernel_state(const Thread& thread);

// Takes a thread out of the schedule.
void remove_live(ThreadId id);
// Takes all other threads of a process out of the schedule (exec, process exit, fatal signal).
void retire_process_threads(std::uint16_t process_index, ThreadId except);

// Live: whether a thread may not be given the baton, for a signal stops its process.
bool is_stopped(const Thread& thread);
// A process of the tree was stopped, or continued, by another.
void set_process_stopped(std::uint16_t process_index, bool stopped);
// Any thread, without the baton too: the threads of a process find out whether they can run. One that was told to stop
// may: the kernel stops no orphaned process group from the keyboard (setpgid(2)).
void look_again(std::uint16_t process_index);

}  // namespace reweave::core
