// `reweave explore`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_explore_command(CLI::App& app, int& status);

}  // namespace reweave
