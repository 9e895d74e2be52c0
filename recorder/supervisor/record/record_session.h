// Records one run of a program: starts it under the core, drains its records into a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/recording/manifest.h"
#include "recorder/supervisor/target/target.h"
#include "recorder/supervisor/tree/left_behind.h"

namespace reweave {

struct RecordOptions {
  std::string output;     // directory to create
  bool reserved = false;  // it was created for this run and is empty
  TargetProgram program;
  std::vector<std::string> environment;  // of the program, as recorded (hidden_environment.h)
  std::string policy = "native";
  std::uint64_t seed = 0;
  bool checksums = false;
  // 2 to 4: the program sees the features of x86-64-v2 to v4 only; 0: all.
  std::uint32_t processor_level = 0;
  LeftBehindLimit left_behind = kUsualLeftBehindLimit;
  std::uint64_t max_bytes = 0;  // limit of events in the recording, beyond which the program runs unrecorded; 0: none
};

struct RecordResult {
  int wait_status = 0;  // of the first process, as wait(2) encodes it
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  std::string text;  // the core's message if it ended the run
  std::uint64_t events = 0;
  int interrupted = 0;      // the signal that asked Reweave to end during the run; 0: none
  bool ended_rest = false;  // that request killed processes that were left behind
  bool dropped = false;     // it exceeded max_bytes: the rest of the recording is useless
};

// Throws Error. On return the recording is complete; after an exception it has what could be saved, marked incomplete.
RecordResult record_program(const RecordOptions& options);

// The outcome according to `wait_status` alone.
wire::OutcomeKind outcome_of(int wait_status);
// The exit status that a shell would show.
int shell_status(int wait_status);

}  // namespace reweave
