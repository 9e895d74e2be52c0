// Replays a recording: starts the recorded program under the core and feeds it the recorded events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/recording_reader.h"
#include "formats/trace_writer.h"
#include "recorder/supervisor/target.h"

namespace reweave {

struct ReplayOptions {
  std::uint64_t stop_event = ~std::uint64_t{0};  // hold before this event number; ~0: never
  bool check = false;                            // compare the recorded checksums
  bool discard_output = false;
  TraceWriter* trace = nullptr;  // full-trace sink, if any
  // Called once the target waits at stop_event, with its process id; the replay goes on when it returns.
  std::function<void(pid_t)> on_hold;
  std::function<void(std::uint64_t)> on_progress;  // events replayed so far
};

struct ReplayResult {
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::string text;  // the Divergence report, the deadlock's cycle, ...
  std::uint64_t events = 0;
};

// Throws Error if the recording cannot be replayed here (files that changed, damage).
ReplayResult replay_recording(const std::string& path, const ReplayOptions& options);

}  // namespace reweave
