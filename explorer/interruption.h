// Signals that ask a search to end: it stops, and keeps what it has found.
#pragma once

#include <initializer_list>

namespace reweave {

// From now on the first of these signals is only taken note of; a second one ends this process at once.
void receive_interruptions(std::initializer_list<int> numbers);
// The signal that came; 0: none has.
int interruption();

}  // namespace reweave
