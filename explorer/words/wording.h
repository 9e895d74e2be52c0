// Names operations of runs in reports.
#pragma once

#include <map>
#include <string>

#include "explorer/run/observation.h"
#include "explorer/words/places.h"

namespace reweave {

// "writes", "locks".
const char* verb_of(const ChoiceNote& note);
// "balance", or empty if the operation has no object that a person would name.
std::string object_text(const ChoiceNote& note, Places& places);
// "writes balance in deposit (bank.c:20)".
std::string operation_text(const ChoiceNote& note, Places& places);

// Replaces addresses in the text of describe_outcome() by names if they are known: "use after free of *queue in consume
// (queue.c:12), thread 1". `names`: names of objects that are not global variables, by their addresses.
std::string readable_outcome(const std::string& outcome, Places& places,
                             const std::map<std::uint64_t, std::string>& names = {});

}  // namespace reweave
