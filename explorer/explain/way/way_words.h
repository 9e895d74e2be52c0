// A value's way in words.
#pragma once

#include <string>

#include "explorer/explain/way/value_way.h"
#include "explorer/places.h"

namespace reweave {

// A number as people write it; an address in hexadecimal.
std::string value_words(std::int64_t value);
// What a step does, without its value and object: "reads", "compares".
const char* way_verb(WayStep::Kind kind);
// "thread 2 wrote 150 there, in deposit"; `same_thread` as the step before: "it had read 150 from total".
std::string way_words(const WayStep& step, bool same_thread, Places& places);

}  // namespace reweave
