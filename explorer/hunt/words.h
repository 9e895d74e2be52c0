// The words in which all reports of a hunt say the same.
#pragma once

#include <string>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

// "./test fails: killed by signal 6 (Aborted)", of all targets in one line. Never that a program has no bug.
std::string verdict_of(const HuntResult& result);
// "fails", "nothing found", ...: of one target, in a word or two.
std::string short_verdict(const TargetHunt& hunt);
// How it ended and, if that is known, where: a line.
std::string headline_of(const HuntFailure& failure);
// Everything else that is known of it: how it was found, its last words, story and stacks.
std::string failure_text(const HuntFailure& failure);
// What was recorded and searched, and at which grain, a line each.
std::string searched_text(const TargetHunt& hunt);
// What would see more, a line each.
std::vector<std::string> advice_for(const TargetHunt& hunt);

}  // namespace reweave
