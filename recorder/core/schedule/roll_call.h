// Roll call: the threads of a process that wait for the baton move to a place from which a copy of them can continue
// (syscalls/tasks/checkpoint.h), and sleep there.
//
// Each thread notes its state in the kernel, which only the thread itself can ask for. It also saves its registers with
// the extended state, because code that made a system call may hold values in any of them. A thread that wakes up
// leaves that place, and must answer the next roll call again.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The place at which a thread sleeps for the baton, and all that it needs to continue there in a copy of its process.
// entry.S uses the first three members.
struct ParkedThread {
  std::uint64_t stack;                  // the core's: its extended state, as XSAVE lays it out
  std::uint64_t frame;                  // rbp there; the other registers are below it
  std::atomic<std::uint32_t> answered;  // number of the last roll call that it answered
  bool is_copy;                         // the copy is creating its kernel thread
  std::uint64_t fs_base;
  std::uint64_t signal_mask;  // the kernel's
};
// This process's, by id.
ParkedThread& parked(const Thread& thread);

// Called by the baton holder. Returns null when all other threads of its process have answered; else the reason why
// they have not.
const char* call_roll();

// Whether there is a roll call that `me` has not answered. Cheap.
bool roll_is_called(const Thread& me);
// `me`, which waits for the baton: answers, and sleeps until it is woken.
void answer_roll_call(Thread& me);

// The first function of the kernel thread that is made for `me` in a copy of its process: `me` wakes up in it.
[[noreturn]] void continue_in_copy(Thread& me);

}  // namespace reweave::core
