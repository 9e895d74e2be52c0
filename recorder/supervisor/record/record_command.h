// `reweave record`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "formats/recording/ending_words.h"

namespace reweave {

// `record --races`: looks for races in a recording that was just made. Implemented in folders above this one.
struct RaceExaminer {
  struct Verdict {
    std::uint64_t reports = 0;
    int always = 0;     // replaces the program's exit status; 0: does not
    int if_passed = 0;  // likewise, but only replaces status 0
  };
  std::function<void()> prepare;  // throws BadInput if the environment's options cannot be used
  // `progress` is called regularly; an exception from it ends the examination.
  std::function<Verdict(const std::string& recording, const std::function<void()>& progress)> examine;
};

// Adds the verb; after it has run, `status` is the program's exit status.
void add_record_command(CLI::App& app, int& status, const RaceExaminer& races, const EndingWords& words);
// Adds the verb that a recorder's guard executes (unsaved.h). It is not in the help.
void add_save_rest_command(CLI::App& app);

}  // namespace reweave
