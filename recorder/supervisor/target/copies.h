// The supervisor's side of checkpoints of a replay, and of the copies that start from them
// (core/syscalls/tasks/copies.h).
#pragma once

#include <string>

#include "formats/base/fd.h"
#include "recorder/supervisor/target/guard.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

struct MadeCheckpoint {
  Fd requests;  // over which it is asked for copies; it ends when the last process that has this closes it
  pid_t pid = 0;
  std::string why;  // the reason if there is none
};

// The target holds. `socket`: the other end of its TargetProgram::checkpoints.
MadeCheckpoint make_checkpoint(ArenaMemory& arena, int socket);

// A copy's process tree. The arena has its configuration, and the copy holds before stop_event, or at the place of the
// checkpoint if that is the same.
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
