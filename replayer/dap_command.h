// The verb `dap`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_dap_command(CLI::App& app);

}  // namespace reweave
