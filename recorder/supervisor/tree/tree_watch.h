// Finds processes of the target's tree that were killed from outside, and removes them from the schedule.
//
// A process that ends by itself announces it and passes the baton on. A process killed by SIGKILL or by an unhandled
// signal from outside cannot; if it had the baton, no thread could proceed. So while nothing else happens, the
// supervisor checks: it takes the baton if that is free or its holder is dead, writes ProcessExit records for the dead
// processes, and frees the baton again. A process whose parent was killed while creating it, before announcing it, is
// killed, as if the parent had been killed a little earlier.
//
// It also does something that the kernel does natively: it hangs up orphaned process groups (setpgid(2)). The kernel
// does not see such groups here, because an orphaned process becomes a child of the supervisor, which is in the same
// session.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

class TreeWatch {
 public:
  // `is_announced`: whether a thread's SpawnRecord is among the records published so far.
  TreeWatch(ArenaMemory& arena, std::function<bool(ThreadId)> is_announced)
      : arena_(arena), is_announced_(std::move(is_announced)) {}
  // Recording only. True if it found a dead process. `first_status`: how the first process ended, if known.
  bool look(std::optional<int> first_status);
  // The run is over: notes the processes that ended without announcing it. `wait_status`: the first one's.
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
  std::vector<std::uint32_t> orphans_;  // retired, but possibly not killed yet: by index
  std::vector<std::uint32_t> adopted_;  // orphaned processes, by index
  std::optional<int> first_status_;
  std::uint32_t next_looked_at_ = 0;  // index of a process
};

}  // namespace reweave
