// Words for the heap blocks and the callers of an explanation's events.
#pragma once

#include <optional>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/words/places.h"

namespace reweave {

// The place of an object in its block: "byte 8 of the block of 40 bytes that main (queue.cc:12) allocated".
std::string block_words(const HeapBlock& block, std::uint64_t object, Places& places);
// For an event in a library, such as a lock of std::mutex: the innermost caller in the user's code. 0 if the event is
// in the user's own code, or no such caller is known.
std::uint64_t user_call(const Explanation& explanation, const Arrival& event, Places& places);
// The innermost function of the user's that called an event in a library, or a synchronisation event, because projects
// often wrap these: "consumer (queue.cc:30)". Empty for other events, if no such function is known, or if user_call()
// has one.
std::string caller_words(const Explanation& explanation, const Event& event, Places& places);

// Lines of one function of the user's.
struct LineRange {
  std::string function, file;
  int first, last;
};
// The lines from one event to another of the same thread, in the innermost function, called or inlined, that both are
// in at different lines. Nothing if there is none.
std::optional<LineRange> common_lines(const Explanation& explanation, const Arrival& begin, const Arrival& end,
                                      Places& places);

}  // namespace reweave
