// The supervisor's side of checkpoints of a replay, and of the copies that start from them
// (core/syscalls/tasks/copies.h).
#pragma once

#include <string>

#include "formats/base/fd.h"
#include "recorder/supervisor/target/guard.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

struct MadeCheckpoint {
  Fd requests;  // socket for copy requests; the checkpoint process ends when every copy of this descriptor is closed
  pid_t pid = 0;
  std::string why;  // the reason if there is none
};

// Forks a checkpoint from the target, which must be holding before an event. `socket`: our end of the socket pair whose
// other end is TargetProgram::checkpoints.
MadeCheckpoint make_checkpoint(ArenaMemory& arena, int socket);

// The process tree of a copy. The arena must hold the copy's configuration. The copy holds before event stop_event; if
// the checkpoint is at that event, it holds there at once.
class Copy : public Tree {
 public:
  // `output`: as in TargetProgram. `checkpoints`: likewise. Throws SystemError.
  Copy(ArenaMemory& arena, int checkpoint, int output, int checkpoints);
  ~Copy() override;

  bool collect() override;
  std::optional<int> status() const override { return status_; }
  void kill_all() override;

 private:
  // Asks the checkpoint how the copy ended.
  int ask_status() const;

  ArenaMemory& arena_;
  int checkpoint_;
  std::optional<Guard> guard_;
  pid_t pid_ = 0;
  Fd process_;  // a pidfd
  std::optional<int> status_;
};

}  // namespace reweave
