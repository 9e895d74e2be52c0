// The verb `hunt`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_hunt_command(CLI::App& app, int& status);

}  // namespace reweave
