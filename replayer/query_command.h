// The verb `query`: a question about a recording, answered as JSON.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_query_command(CLI::App& app, int& status);

}  // namespace reweave
