// `reweave replay`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_replay_command(CLI::App& app, int& status);

}  // namespace reweave
