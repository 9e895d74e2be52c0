// Finds processes of the target's tree that were killed from outside and takes them out of the schedule.
//
// Whoever ends by its own doing says so and passes the baton on. A process that SIGKILL ends, or a signal from outside
// that it does not handle, cannot; if it had the baton nobody would run any more. So while nothing else happens the
// supervisor looks: it takes the baton if that is free or its holder is dead, writes ProcessExit records in their
// stead and frees the baton again. A process whose parent was killed while it created it, before it had said so, is
// ended: as if the parent had been killed a little earlier.
//
// It also does what the kernel does not see a reason for: a process that loses its parent becomes the supervisor's, who
// is of the same session, and its group therefore is no orphaned one (setpgid(2)), as it would be natively.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "recorder/supervisor/arena_memory.h"

namespace reweave {

class TreeWatch {
 public:
  // `is_announced`: whether a thread's SpawnRecord was written, of all that is published by now.
  TreeWatch(ArenaMemory& arena, std::function<bool(ThreadId)> is_announced)
      : arena_(arena), is_announced_(std::move(is_announced)) {}
  // Recording only. True if it found a process dead. `first_status`: how the first process ended, if that is known.
  bool look(std::optional<int> first_status);
  // The run is over: notes the processes that ended without having said so. `wait_status`: the first one's.
  void note_rest(int wait_status);

 private:
  bool any_dead();
  bool take_baton();
  void retire(Process& process);
  void retire_unannounced();
  void take_out(Process& process, int wait_status);
  void end_tracees(const Process& process, int wait_status);
  void release_tracees(const Process& tracer);
  void end_orphans();
  void hang_up_adopted();
  void append_exit(const Process& process, int wait_status);

  ArenaMemory& arena_;
  std::function<bool(ThreadId)> is_announced_;
  std::vector<std::uint32_t> orphans_;  // retired, but perhaps not yet killed: by index
  std::vector<std::uint32_t> adopted_;  // processes that have lost their parents, by index
  std::optional<int> first_status_;
  std::uint32_t next_looked_at_ = 0;  // process, by index
};

}  // namespace reweave
