// Child processes that a verb starts: other verbs of Reweave, test drivers that list their tests, tools that print
// their version.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace reweave {

struct ChildCommand {
  std::vector<std::string> argv;                                 // if the first word is "reweave", this program is run
  std::string working_directory;                                 // empty: the current one
  std::vector<std::pair<std::string, std::string>> environment;  // added to, or replacing, the current environment
  int output = -1, errors = -1;  // its standard output and error; -1: those of this process
};

struct ChildEnd {
  int wait_status = 0;
  bool out_of_time = false;  // it was terminated because the time was up

  // The exit status as in a shell: 128 + N if signal N killed it.
  int status() const;
};

// Runs a command and waits for its end. If the time is up, or this process is interrupted
// (explorer/run/interruption.h), the command gets SIGTERM.
ChildEnd run_child(const ChildCommand& command, std::chrono::steady_clock::time_point deadline);

// Runs a command and returns its standard output. Throws BadInput with the last line of its standard error if its
// status is not 0.
std::string output_of(ChildCommand command);

}  // namespace reweave
