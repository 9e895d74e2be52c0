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

// What a replay that holds for a debugger should do.
enum class HoldRequest { kNone, kGo, kEnd };

struct ReplayOptions {
  std::uint64_t stop_event = ~std::uint64_t{0};  // hold before this event number; ~0: never
  bool check = false;                            // compare the recorded checksums
  bool discard_output = false;
  TraceWriter* trace = nullptr;  // full-trace sink, if any
  // Called once, when a process of the target waits at stop_event. The replay goes on, or ends, when `hold_request`
  // says so; it is asked until the run is over.
  std::function<void(const RuntimeState&, pid_t held)> on_hold;
  std::function<HoldRequest()> hold_request;
  std::function<void(std::uint64_t)> on_progress;  // events replayed so far
};

struct ReplayResult {
  std::string hidden;  // names of environment variables whose values the recording does not have
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::string text;  // the Divergence report, the deadlock's cycle, ...
  std::uint64_t events = 0;
  std::string missing;  // what the recording lacks of its end, though nothing of it was asked for; mostly empty
};

// Throws Error if the recording cannot be replayed here (files that changed, damage).
ReplayResult replay_recording(const std::string& path, const ReplayOptions& options);

}  // namespace reweave
