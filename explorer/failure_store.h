// Keeps failing runs as recordings that replay exactly.
#pragma once

#include <string>

#include "explorer/expected_endings.h"
#include "explorer/fork_server.h"

namespace reweave {

// Writes `run`, which left the recording `parent` at `departure`, as a recording at `path`.
void save_run(const std::string& parent, const Departure& departure, const RunResult& run, const std::string& policy,
              const std::string& path);

// The records of the recording from the departure on.
std::vector<std::byte> records_behind(const std::string& recording, const Departure& departure);

// Replays the recording and compares how it ends with `run`. `check`: the user's, if that is what failed.
bool replays_alike(const std::string& path, const RunResult& run, const ExpectedEndings& expected,
                   const std::string& check);

// What the recorded run writes to its standard output passes the user's check: `command`, run by the shell with that
// output as its input, ends with status 0.
bool output_passes(const std::string& path, const std::string& command);

// What the recorded run says of its failure (explorer/last_words.h).
std::string last_words_of(const std::string& path);

}  // namespace reweave
