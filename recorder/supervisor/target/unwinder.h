// Call stacks of a stopped thread, by libunwind, from outside without tracing the process.
#pragma once

#include <memory>
#include <vector>

#include "recorder/stack_cache.h"
#include "recorder/supervisor/target/remote_code.h"

namespace reweave {

struct CallStack {
  std::vector<std::uint64_t> callers;  // return addresses, innermost first
  std::vector<StackWord> words;        // everything it depends on, in the order in which it was read
};

// Finds the stacks of one CodeSpace (recorder/stack_cache.h).
class Unwinder {
 public:
  explicit Unwinder(pid_t pid);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // Finds the stack above the frame that contains `pc`, of a thread with `registers`. It ends where the code has no
  // unwind information. False if it ends before `pc` is reached.
  bool unwind(const StackRegisters& registers, std::uint64_t pc, CallStack& stack);

  // True if the system forbids reading the process, so that no stack can be found.
  bool forbidden() const;

  class Target;  // libunwind's view of the process

 private:
  std::unique_ptr<Target> target_;
  void* space_;  // unw_addr_space_t
};

}  // namespace reweave
