// What a hunt leaves for people and for other programs. `folder` is the hunt's, as the user may name it.
#pragma once

#include <string>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

// The command that opens gdb where the failure shows.
std::string replay_command(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder);
// The first failure that replays, and whose it is; null: there is none.
std::pair<const TargetHunt*, const HuntFailure*> first_failure(const HuntResult& result);

// JUnit's XML: a test case for each target.
std::string junit_report(const HuntResult& result, const std::string& folder);
// SARIF 2.1.0: a result for each failure.
std::string sarif_report(const HuntResult& result, const std::string& folder);
// Markdown, such as CI shows of a job.
std::string markdown_report(const HuntResult& result, const std::string& folder);
// One screen. `resume`: the command that goes on.
std::string screen_report(const HuntResult& result, const std::string& folder, const std::string& resume);

}  // namespace reweave
