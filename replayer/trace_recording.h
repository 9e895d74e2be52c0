// Traces a recording: replays it and writes every event to a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "replayer/replay_session.h"

namespace reweave {

struct TracedReplay {
  ReplayResult result;
  bool whole = false;  // false: the replay stopped early, and the trace ends there
  std::uint64_t events = 0, bytes = 0;
};

// `output` must not exist. The program's output is discarded. `progress` is ReplayOptions::on_progress; if it throws,
// the replay ends. Throws Error as replay_recording does.
TracedReplay trace_recording(const std::string& recording, const std::string& output,
                             const std::function<void(std::uint64_t events)>& progress = {});

}  // namespace reweave
