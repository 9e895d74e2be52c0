// The verb `predict`: what else the run of a trace could have done.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

// `status` receives the exit status when the verb has run.
void add_predict_command(CLI::App& app, int& status);

}  // namespace reweave
