// Records a program until a run passes, for verbs that are given a program in place of a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/expected_endings.h"

namespace reweave {

struct PassingRecording {
  std::string path;  // of the run that passed, or else of the last one
  bool passed = false;
  std::uint64_t tries = 0;  // runs that were recorded
  std::string failure;      // how the last run that failed ended; empty: none failed
};
// `seconds`: limit; 0: none. What the programs write is discarded. Throws Error if the program cannot be recorded.
PassingRecording record_passing(const std::vector<std::string>& command, const ExpectedEndings& expected,
                                double seconds);

// How many words of our command line come after `--`: the parser does not tell.
std::size_t words_behind_mark();

}  // namespace reweave
