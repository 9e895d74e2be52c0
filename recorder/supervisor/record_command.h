// `reweave record`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace reweave {

// `record --races`: looks for races in a recording that was made just now. It is in folders above this one.
struct RaceExaminer {
  struct Verdict {
    std::uint64_t reports = 0;
    int always = 0;     // the status that takes the place of the program's; 0: none
    int if_passed = 0;  // likewise, only of one that is 0
  };
  std::function<void()> prepare;  // throws BadInput if what the environment asks for cannot be used
  // `progress` is called now and then; what it throws ends that.
  std::function<Verdict(const std::string& recording, const std::function<void()>& progress)> examine;
};

// Adds the verb; when it ran, `status` is the program's exit status.
void add_record_command(CLI::App& app, int& status, const RaceExaminer& races);
// Adds the verb that a recorder's guard executes (unsaved.h). No help shows it.
void add_save_rest_command(CLI::App& app);

}  // namespace reweave
