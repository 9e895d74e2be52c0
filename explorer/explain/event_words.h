// What an explanation calls the heap blocks and the callers of its events.
#pragma once

#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/places.h"

namespace reweave {

// "byte 8 of the block of 40 bytes that main (queue.cc:12) allocated", of an object in the block.
std::string block_words(const HeapBlock& block, std::uint64_t object, Places& places);
// Where the user's code does what a library does for it, such as a lock of std::mutex: the innermost call in the user's
// code. 0: the event's code is the user's own, or no such call is known.
std::uint64_t user_call(const Explanation& explanation, const Arrival& event, Places& places);
// Of synchronisation, which projects often wrap, and of what a library does: the first function of the user's that
// called it, "consumer (queue.cc:30)". Empty: of other events, where it is not known, and where there is a user_call().
std::string caller_words(const Explanation& explanation, const Event& event, Places& places);

}  // namespace reweave
