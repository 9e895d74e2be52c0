// What an explanation calls the objects and places of its events, with what is known of their surroundings.
#pragma once

#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/places.h"

namespace reweave {

// "balance", "the block of 40 bytes that main (queue.cc:12) allocated"; empty if the event has no object.
std::string object_words(const Explanation& explanation, const Event& event, Places& places);
// The object is a block of the heap whose allocation is known.
bool uses_block(const Explanation& explanation, const Event& event);
// Of synchronisation, which projects often wrap: the first function of the program that called the wrapper, "consumer
// (queue.cc:30)". Empty: of other events, and where it is not known.
std::string caller_words(const Explanation& explanation, const Event& event, Places& places);

}  // namespace reweave
