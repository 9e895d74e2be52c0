// Words for the heap blocks and the callers of an explanation's events.
#pragma once

#include <optional>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/words/places.h"

namespace reweave {

// The callers of the event's function, up to the first that distinguishes it from each of `others`, which are at the
// same place: "Viewport::rotate (view.cc:21), called by main (view.cc:40)". Empty if the next few callers are the same.
std::string distinguishing_callers(const Explanation& explanation, const Event& event, const std::vector<Event>& others,
                                   Places& places);

// The place of an object in its block: "byte 8 of the block of 40 bytes that main (queue.cc:12) allocated".
std::string block_words(const HeapBlock& block, std::uint64_t object, Places& places);
// Returns the innermost caller in the user's code of an event in a library, such as a lock of std::mutex. 0 if the
// event is in the user's own code, or no such caller is known.
std::uint64_t user_call(const Explanation& explanation, const Arrival& event, Places& places);
// Names the user's innermost function that called an event in a library or a synchronisation event, because projects
// often wrap these: "consumer (queue.cc:30)". Empty for other events, if no such function is known, or if user_call()
// returns one.
std::string caller_words(const Explanation& explanation, const Event& event, Places& places);

// Names the caller of the user's innermost function at the event: "work (group.cc:34)". Empty if it is not known.
std::string caller_in_user_code(const Explanation& explanation, const Arrival& event, Places& places);

// Lines of one function of the user's.
struct LineRange {
  std::string function, file;
  int first, last;
};
// Returns the lines from one event to another event of the same thread. They are lines of the innermost function,
// called or inlined, that contains both events on different lines, or else on one line. None if there is no such
// function.
std::optional<LineRange> common_lines(const Explanation& explanation, const Arrival& begin, const Arrival& end,
                                      Places& places);

}  // namespace reweave
