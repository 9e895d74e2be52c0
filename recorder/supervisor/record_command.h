// `reweave record`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

// Adds the verb; when it ran, `status` is the program's exit status.
void add_record_command(CLI::App& app, int& status);
// Adds the verb that a recorder's guard executes (unsaved.h). No help shows it.
void add_save_rest_command(CLI::App& app);

}  // namespace reweave
