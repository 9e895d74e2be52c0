// Records one run of a program: starts it under the core, drains its records into a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/manifest.h"
#include "recorder/supervisor/left_behind.h"
#include "recorder/supervisor/target.h"

namespace reweave {

struct RecordOptions {
  std::string output;     // directory to create
  bool reserved = false;  // it was created for this run, and is empty
  TargetProgram program;
  std::vector<std::string> environment;  // of the program, as it is recorded (hidden_environment.h)
  std::string policy = "native";
  std::uint64_t seed = 0;
  bool checksums = false;
  // 2 to 4: the program is told of what x86-64-v2 to v4 have, and no more; 0: of all.
  std::uint32_t processor_level = 0;
  LeftBehindLimit left_behind = kUsualLeftBehindLimit;
  std::uint64_t max_bytes = 0;  // of events in the recording; the program runs on, but is no longer recorded; 0: any
};

struct RecordResult {
  int wait_status = 0;  // of the first process, as wait(2) encodes it
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  std::string text;  // what the runtime said, if it ended the run
  std::uint64_t events = 0;
  int interrupted = 0;      // the signal that asked us to end while the run was under way; 0: none
  bool ended_rest = false;  // that request ended processes that were left behind
  bool dropped = false;     // it grew beyond max_bytes: what is left of the recording is of no use
};

// Throws Error. The recording is complete on return; on an exception it is what could be saved, marked incomplete.
RecordResult record_program(const RecordOptions& options);

// What `wait_status` alone says about a run.
wire::OutcomeKind outcome_of(int wait_status);
// The exit status that a shell would show.
int shell_status(int wait_status);

}  // namespace reweave
