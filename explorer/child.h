// Commands that a verb starts: our own verbs, test drivers that are asked for their tests, tools that are asked for
// their version.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace reweave {

struct ChildCommand {
  std::vector<std::string> argv;                                 // "reweave" first: this program itself
  std::string working_directory;                                 // empty: the current one
  std::vector<std::pair<std::string, std::string>> environment;  // in addition, or in place of
  int output = -1, errors = -1;                                  // its standard output and error; -1: ours
};

struct ChildEnd {
  int wait_status = 0;
  bool out_of_time = false;  // it was asked to end, for the time was up

  // As a shell has it: 128 + N of one that signal N killed.
  int status() const;
};

// Waits for its end. If the time is up, or we are interrupted (explorer/interruption.h), it is asked to end, too.
ChildEnd run_child(const ChildCommand& command, std::chrono::steady_clock::time_point deadline);

// What a command writes to its standard output. Throws BadInput with the last line of its standard error if its status
// is not 0.
std::string output_of(ChildCommand command);

}  // namespace reweave
