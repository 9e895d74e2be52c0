// `reweave pack`.
#pragma once

#include <CLI/CLI.hpp>

namespace reweave {

void add_pack_command(CLI::App& app);

}  // namespace reweave
