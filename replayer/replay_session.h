// Replays a recording: starts the recorded program under the core and feeds it the recorded events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/recording_reader.h"
#include "formats/trace_writer.h"
#include "recorder/supervisor/copies.h"

namespace reweave {

// What a replay that holds for a debugger should do.
struct HoldRequest {
  enum Kind {
    kNone,
    kGo,
    kGoTo,        // hold again before `event`
    kCheckpoint,  // become one, if it can, and hold on
    kEnd
  };
  Kind kind = kNone;
  std::uint64_t event = 0;
};

// Where a copy of another replay begins (recorder/supervisor/copies.h).
struct CopyOrigin {
  int checkpoint = -1;  // -1: this is no copy
  std::uint64_t event = 0;
};

struct ReplayOptions {
  std::uint64_t stop_event = ~std::uint64_t{0};  // hold before this event number; ~0: never
  bool check = false;                            // compare the recorded checksums
  bool discard_output = false;
  TraceWriter* trace = nullptr;  // full-trace sink, if any
  CopyOrigin origin;
  // Called when a process of the target waits at stop_event. The replay goes on, or ends, when `hold_request` says so;
  // it is asked until the run is over.
  std::function<void(const RuntimeState&, pid_t held)> on_hold;
  std::function<HoldRequest()> hold_request;
  int requests = -1;  // a descriptor that has something to read when there is a request; -1: none
  std::function<void(const MadeCheckpoint&)> on_checkpoint;  // if it is to make checkpoints: one was asked for
  std::function<void(std::uint64_t)> on_progress;            // events replayed so far
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
