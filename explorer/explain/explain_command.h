// The verb `explain`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_explain_command(CLI::App& app, int& status);

}  // namespace reweave
