// What is known of a failure of an earlier build: its explanation, saved beside its recording. Nothing of it depends on
// the addresses of that build, which need not exist any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/run.h"
#include "replayer/saved_moment.h"

namespace reweave {

// An operation of the old run, by its source.
struct OldStep {
  ThreadId thread = 0;
  std::uint32_t number = 1;  // the number-th time that the thread came there
  std::string function, source;
  int line = 0;
  unsigned operation = 0;  // of that line, from 1; 0: it has no source
  std::string place;       // for people
};

// A pair whose order mattered, or a block that was broken: in this order it failed.
struct OldCandidate {
  std::vector<OldStep> steps;  // two or three
  // Where the thread of the step with the same index was to be held so that it has no lock yet.
  std::vector<std::optional<OldStep>> entries;
};

struct OldFailure {
  std::string recording;
  RunResult end;  // outcome, status and text alone
  std::string last_words, cause;
  std::vector<OldCandidate> candidates;  // that which mattered most first
  std::vector<OldStep> schedule;         // of the failing run, what others can see
};

// Throws BadInput if the recording did not fail, or has no saved explanation.
OldFailure read_old_failure(const std::string& recording);

// True if a run that ended like `end`, with these last words, fails as the old one did.
bool is_same_failure(const OldFailure& old, const RunResult& end, const std::string& last_words);

}  // namespace reweave
