// The verb `predict`: what else the run of a trace could have done.
#pragma once

#include <CLI/CLI.hpp>

#include "predictor/recording_trace.h"

namespace reweave {

// `status` receives the exit status when the verb has run. `maker`: for recordings.
void add_predict_command(CLI::App& app, int& status, const TraceMaker& maker);

}  // namespace reweave
