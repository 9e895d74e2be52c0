// Keeps failing runs as recordings that replay exactly.
#pragma once

#include <string>

#include "explorer/run/expected_endings.h"
#include "explorer/run/fork_server.h"

namespace reweave {

// Writes `run`, which left the recording `parent` at `departure`, as a recording at `path`. `told`: the origin that the
// new recording names; empty: the parent's absolute path.
void save_run(const std::string& parent, const Departure& departure, const RunResult& run, const std::string& policy,
              const std::string& path, const std::string& told = {});

// The recording's records from the departure on.
std::vector<std::byte> records_behind(const std::string& recording, const Departure& departure);

// Replays the recording and compares how it ends with `run`. `check`: the user's check, if that is what failed.
bool replays_alike(const std::string& path, const RunResult& run, const ExpectedEndings& expected,
                   const std::string& check);

// True if the recorded run's standard output passes the user's check: `command`, run by the shell with that output as
// its input, exits with status 0.
bool output_passes(const std::string& path, const std::string& command);

// The recorded run's own message about its failure (explorer/words/last_words.h).
std::string last_words_of(const std::string& path);

}  // namespace reweave
