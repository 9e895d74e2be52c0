// `reweave record`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

// Adds the verb; when it ran, `status` is the program's exit status.
void add_record_command(CLI::App& app, int& status);

}  // namespace reweave
