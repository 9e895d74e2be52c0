// The reports of a hunt, for people and for other programs. `folder` is the hunt's folder, as the user can name it.
#pragma once

#include <string>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

// The failure's recording.
std::string recording_of(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder);
// The command that opens gdb where the failure shows.
std::string replay_command(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder);
// The first failure that replays, and its target; null if there is none.
std::pair<const TargetHunt*, const HuntFailure*> first_failure(const HuntResult& result);

// JUnit XML: one test case per target.
std::string junit_report(const HuntResult& result, const std::string& folder);
// SARIF 2.1.0: one result per failure.
std::string sarif_report(const HuntResult& result, const std::string& folder);
// GitLab's code quality report: JSON, one entry per failure whose place is known.
std::string quality_report(const HuntResult& result, const std::string& folder);
// Markdown, as a CI system shows for a job.
std::string markdown_report(const HuntResult& result, const std::string& folder);
// Text for one screen. `resume`: the command that continues the hunt.
std::string screen_report(const HuntResult& result, const std::string& folder, const std::string& resume);

}  // namespace reweave
