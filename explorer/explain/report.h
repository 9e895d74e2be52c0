// The faces of an explanation.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/places.h"

namespace reweave {

// The cause in one sentence, with what shows it; empty if no pair of events is known to matter.
std::string cause_text(const Explanation& explanation, Places& places);
// What a remedy assumes: "lines 23 to 27 of deposit not interrupted by another use of balance".
std::string remedy_phrase(const Explanation& explanation, const Remedy& remedy, Places& places);
// One screen; `full`: all rows of all tables.
std::string text_report(const Explanation& explanation, Places& places, bool full);
// docs/explanation-format.md describes it.
nlohmann::json json_report(const Explanation& explanation, Places& places);

}  // namespace reweave
