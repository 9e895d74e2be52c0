// The options that every verb has: --quiet, --verbose, --color.
#pragma once

#include <CLI/CLI.hpp>

#include <string_view>

namespace reweave {

// Adds these options to the verbs of `app`. A verb with its own --quiet keeps it.
void add_manners(CLI::App& app);

// With --verbose, prints the time and memory used by this process and the children for which it waited.
void tell_costs(std::string_view verb);

}  // namespace reweave
