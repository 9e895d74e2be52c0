// Texts shared by all reports of a hunt.
#pragma once

#include <string>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

// One line on all targets: "./test: a failure that replays", "2 of 9 tests fail, 9 could be searched". It never says
// that a program has no bug.
std::string verdict_of(const HuntResult& result);
// The verdict on one target in a few words: "a failure that replays", "not examined".
std::string short_verdict(const TargetHunt& hunt);
// One line: how the run ended and, if known, where.
std::string headline_of(const HuntFailure& failure);
// Everything else about the failure: how it was found, its last words, story and stacks.
std::string failure_text(const HuntFailure& failure);
// The recorded runs, the search and its granularity, one line each.
std::string searched_text(const TargetHunt& hunt);
// Advice on how to see more, one line each.
std::vector<std::string> advice_for(const TargetHunt& hunt);

}  // namespace reweave
