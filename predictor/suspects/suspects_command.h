// The verb `suspects`: accesses that may race, found without running the program.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_suspects_command(CLI::App& app);

}  // namespace reweave
