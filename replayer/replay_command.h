// `reweave replay`.
#pragma once

#include <CLI/CLI.hpp>

#include "formats/recording/ending_words.h"

namespace reweave {

void add_replay_command(CLI::App& app, int& status, const EndingWords& words);

}  // namespace reweave
