// Records a program until a run passes, at most five times, for verbs that are given a program instead of a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/run/expected_endings.h"

namespace reweave {

struct PassingRecording {
  std::string path;  // recording of the run that passed, else of the last run; empty: interrupted before one
  bool passed = false;
  std::uint64_t tries = 0;  // runs that were recorded
  std::string failure;      // how the last failing run ended; empty: none failed
};
// `seconds`: time limit; 0: none. The program's output is discarded. Throws Error if the program cannot be recorded or
// does not end in time.
PassingRecording record_passing(const std::vector<std::string>& command, const ExpectedEndings& expected,
                                double seconds);

// The number of words after `--` on our command line, which the parser does not report.
std::size_t words_behind_mark();

}  // namespace reweave
