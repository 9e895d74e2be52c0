// A replay, with a process tree of its own, that waits at an event under our control.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "replayer/live/replay_helper.h"
#include "replayer/live/traced_process.h"

namespace reweave {

// The replay starts at once; `ready` waits for it.
class HeldReplay {
 public:
  // `known`: the announcement of another replay of this recording. Needed for a copy, which announces less.
  HeldReplay(const ReplaySource& source, const HelperTask& task, nlohmann::json known = nullptr);
  ~HeldReplay();
  HeldReplay(const HeldReplay&) = delete;
  HeldReplay& operator=(const HeldReplay&) = delete;

  // Waits until the replay holds. Throws BadInput, with the helper's exit status, if the replay ends before that.
  void ready(const CoreSymbols& core);
  bool is_copy() const { return is_copy_; }
  // The announcement of hold_command.h.
  const nlohmann::json& place() const { return place_; }
  TracedProcess& process() { return *process_; }

 private:
  std::string where_;
  bool is_copy_;
  nlohmann::json place_;
  ReplayHelper helper_;
  std::unique_ptr<TracedProcess> process_;
};

}  // namespace reweave
