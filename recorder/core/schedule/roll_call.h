// Roll call: the threads of a process that wait for the baton come to a place from which a copy of them can go on
// (syscalls/tasks/checkpoint.h), and sleep on there.
//
// Each notes what the kernel has of it, which only itself can ask for, and saves its registers with the extended state:
// code that made a system call may hold values in any of them. A thread that wakes up leaves that place, and answers
// the next roll call anew.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Where a thread sleeps for the baton, and what it needs to go on from there in a copy of its process. entry.S knows
// the first three.
struct ParkedThread {
  std::uint64_t stack;                  // the core's: its extended state, as XSAVE lays it out
  std::uint64_t frame;                  // rbp there; the other registers are below it
  std::atomic<std::uint32_t> answered;  // number of the last roll call that it answered
  bool is_copy;                         // its real thread is being made in the copy
  std::uint64_t fs_base;
  std::uint64_t signal_mask;  // the kernel's
};
// This process's, by id.
ParkedThread& parked(const Thread& thread);

// The baton holder: returns when all other threads of its process have answered. Null, or why they did not.
const char* call_roll();

// Whether there is a roll call that `me` has not answered. Cheap.
bool roll_is_called(const Thread& me);
// `me`, which waits for the baton: answers, and sleeps until it is woken.
void answer_roll_call(Thread& me);

// First thing of the real thread that is made for `me` in a copy of its process: it wakes up there.
[[noreturn]] void go_on_in_copy(Thread& me);

}  // namespace reweave::core
