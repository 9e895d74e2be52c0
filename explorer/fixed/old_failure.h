// The failure of an earlier build, read from the explanation saved in its recording. It does not depend on the
// addresses of that build, which need not exist any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/run/run.h"
#include "replayer/saved_moment.h"

namespace reweave {

// An operation of the old run, by its source.
struct OldStep {
  ThreadId thread = 0;
  std::uint32_t number = 1;  // the number-th time that the thread reached it
  std::string function, source;
  int line = 0;
  unsigned operation = 0;  // number of the operation on its line, from 1; 0: no source is known
  std::string place;       // for people
};

// A pair whose order mattered, or an atomic block that was interrupted, in the failing order.
struct OldCandidate {
  std::vector<OldStep> steps;  // two or three
  // By index of the step: the operation before which its thread must be held so that it does not hold the step's locks
  // yet. None if the step is under no lock.
  std::vector<std::optional<OldStep>> entries;
};

struct OldFailure {
  std::string recording;
  RunResult end;  // only outcome, status and text
  std::string last_words, cause;
  std::vector<OldCandidate> candidates;  // most important first
  std::vector<OldStep> schedule;         // the failing run's operations that other threads can see
};

// Throws BadInput if the recording did not fail, or has no saved explanation.
OldFailure read_old_failure(const std::string& recording);

// True if a run that ended like `end`, with these last words, fails as the old one did.
bool is_same_failure(const OldFailure& old, const RunResult& end, const std::string& last_words);

}  // namespace reweave
