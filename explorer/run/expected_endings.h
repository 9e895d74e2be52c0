// The normal endings of a run; all others are failures.
#pragma once

#include <set>
#include <string>

#include "explorer/run/run.h"
#include "formats/recording/manifest.h"

namespace reweave {

class ExpectedEndings {
 public:
  // Exit statuses (0 to 255) and names of signals, separated by commas: "0,3,SIGTERM". Throws BadInput.
  static ExpectedEndings parse(const std::string& list);
  // The exit status of the recorded run; 0 if it ended otherwise.
  static ExpectedEndings of_recording(const Manifest& manifest);

  // Sets the outcome: a run that ended as expected passes, with any exit status; a run that exited otherwise has
  // failed.
  void judge(RunResult& run) const;
  // "exit status 3", for people; empty if only 0 is normal.
  std::string text() const;

 private:
  std::set<int> statuses_;
  std::set<int> signals_;
};

}  // namespace reweave
