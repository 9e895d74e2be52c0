// The options that every verb has: --quiet, --verbose, --color.
#pragma once

#include <CLI/CLI.hpp>

#include <string_view>

namespace reweave {

// Adds them to the verbs of `app`. A verb that has a --quiet of its own keeps that.
void add_manners(CLI::App& app);

// Under --verbose: the time and memory that this process and the children it waited for have used.
void tell_costs(std::string_view verb);

}  // namespace reweave
