// Replays a recording: starts the recorded program under the core and feeds it the recorded events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/recording/recording_reader.h"
#include "formats/trace/trace_writer.h"
#include "recorder/supervisor/target/copies.h"

namespace reweave {

// A request to a replay that holds for a debugger.
struct HoldRequest {
  enum Kind {
    kNone,
    kGo,
    kGoTo,        // hold again before `event`
    kCheckpoint,  // make a checkpoint if possible, and keep holding
    kEnd
  };
  Kind kind = kNone;
  std::uint64_t event = 0;
};

// The checkpoint from which a copy of another replay starts (recorder/supervisor/target/copies.h).
struct CopyOrigin {
  int checkpoint = -1;  // descriptor of its requests; -1: this replay is no copy
  std::uint64_t event = 0;
};

struct ReplayOptions {
  std::uint64_t stop_event = ~std::uint64_t{0};  // hold before this event number; ~0: never
  bool check = false;                            // compare the recorded checksums
  bool discard_output = false;
  TraceWriter* trace = nullptr;  // full-trace sink, if any
  CopyOrigin origin;
  // on_hold is called when a process of the target waits at stop_event. hold_request is called repeatedly until the run
  // is over; its results let the replay continue or end.
  std::function<void(const RuntimeState&, pid_t held)> on_hold;
  std::function<HoldRequest()> hold_request;
  int requests = -1;                                         // becomes readable when there is a request; -1: none
  std::function<void(const MadeCheckpoint&)> on_checkpoint;  // set if it makes checkpoints; called after each request
  std::function<void(std::uint64_t)> on_progress;            // events replayed so far
};

struct ReplayResult {
  std::vector<std::string> hidden;  // names of environment variables whose values the recording does not have
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::string text;  // the Divergence report, the deadlock's cycle, ...
  std::uint64_t events = 0;
  std::string missing;  // if the recording is truncated: the reason; else empty
};

// Throws Error if the recording cannot be replayed here (files that changed, damage).
ReplayResult replay_recording(const std::string& path, const ReplayOptions& options);

}  // namespace reweave
