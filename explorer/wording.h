// What an operation of a run is called.
#pragma once

#include <string>

#include "explorer/observation.h"
#include "explorer/places.h"

namespace reweave {

// "writes", "locks".
const char* verb_of(const ChoiceNote& note);
// "balance", or empty if the operation has no object that a person would name.
std::string object_text(const ChoiceNote& note, Places& places);
// "writes balance in deposit (bank.c:20)".
std::string operation_text(const ChoiceNote& note, Places& places);

}  // namespace reweave
