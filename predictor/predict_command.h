// The verb `predict`: finds bugs in other orders of a traced run.
#pragma once

#include <CLI/CLI.hpp>

#include "predictor/model/recording_trace.h"

namespace reweave {

// `status` receives the exit status when the verb has run. `maker` makes the traces of recordings.
void add_predict_command(CLI::App& app, int& status, const TraceMaker& maker);

}  // namespace reweave
