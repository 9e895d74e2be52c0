// `reweave dump`, `reweave traceinfo`, `reweave ps` and `reweave trace`: inspection of recordings and traces.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_inspect_commands(CLI::App& app, int& status);

}  // namespace reweave
