// Describes a value's way in words.
#pragma once

#include <string>

#include "explorer/explain/way/value_way.h"
#include "explorer/words/places.h"

namespace reweave {

// A small number in decimal; an address in hexadecimal.
std::string value_words(std::int64_t value);
// The verb of a step: "reads", "compares".
const char* way_verb(WayStep::Kind kind);
// "thread 2 wrote 150 there, in deposit"; if the step before is of the same thread, "it had read 150 from total".
std::string way_words(const WayStep& step, bool same_thread, Places& places);

}  // namespace reweave
