// The verb `doctor`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_doctor_command(CLI::App& app, int& status);

}  // namespace reweave
