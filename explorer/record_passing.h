// Records a program until a run passes, for verbs that are given a program in place of a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/run/expected_endings.h"

namespace reweave {

struct PassingRecording {
  std::string path;  // of the run that passed, or else of the last one
  bool passed = false;
  std::uint64_t tries = 0;  // runs that were recorded
  std::string failure;      // the end of the last run that failed; empty: none failed
};
// `seconds`: limit; 0: none. What the programs write is discarded. Throws Error if the program cannot be recorded.
PassingRecording record_passing(const std::vector<std::string>& command, const ExpectedEndings& expected,
                                double seconds);

// The number of words after `--` on our command line, which the parser does not report.
std::size_t words_behind_mark();

}  // namespace reweave
