// The verb `campaign`, and the part of `explore` that makes one unit.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace reweave {

void add_campaign_command(CLI::App& app, int& status);
// Runs `explore --campaign FOLDER --unit NUMBER`. Returns the exit status.
int explore_unit(const std::string& campaign, std::uint64_t unit);

}  // namespace reweave
