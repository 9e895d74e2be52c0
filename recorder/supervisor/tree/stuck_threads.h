// Finds the threads of a tree that can never continue, because only threads that are stuck themselves could end their
// waits.
//
// Threads that wait for time to pass, a signal with a handler, or anything outside the tree are not among them. Signals
// from outside that end a process do not count as a way to continue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorder/supervisor/tree/kernel_waits.h"

namespace reweave {

// Facts about the threads that the runtime state does not contain.
class TreeView {
 public:
  virtual ~TreeView() = default;
  // See kernel_waits.h. `pipes`: kept for all threads that are asked about at one time.
  virtual std::optional<KernelWait> kernel_wait(const RuntimeState& state, const Thread& thread,
                                                OpenPipes& pipes) const = 0;
  // The ID (Thread::tid) of the thread that holds the pthread mutex at `address` of that process now; 0: none or
  // unknown.
  virtual std::int32_t mutex_owner(const Process& process, std::uint64_t address) const = 0;
};

// The facts as the kernel shows them now.
class LiveTreeView : public TreeView {
 public:
  std::optional<KernelWait> kernel_wait(const RuntimeState& state, const Thread& thread,
                                        OpenPipes& pipes) const override;
  std::int32_t mutex_owner(const Process& process, std::uint64_t address) const override;
};

struct StuckThread {
  ThreadId thread;
  std::optional<KernelWait> in_kernel;  // if it is in a system call; otherwise Thread::wait says what it waits for
  std::optional<ThreadId> owner;        // of what it waits for, if known
};

struct StuckThreads {
  std::vector<StuckThread> threads;  // in order of creation
  bool all = false;                  // the tree has no other threads
  // Threads wait for each other's mutexes, in a circle. Nothing but the end of a process can change that.
  bool circle = false;
  // All threads of a process are stuck, one of them at a lock, and others wait for the process to end. Nothing but the
  // end of that process can change that.
  bool process = false;
};

// Thread rule: the supervisor's thread. The answer may be wrong unless the supervisor has the baton.
StuckThreads find_stuck_threads(const RuntimeState& state, const TreeView& view);

// The text of the run's outcome.
std::string describe(const RuntimeState& state, const StuckThreads& stuck);

}  // namespace reweave
