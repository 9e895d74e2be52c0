// Signals that stop a search: it ends early and keeps what it has found.
#pragma once

#include <initializer_list>

namespace reweave {

// From now on the first of these signals is only noted, and repeats within a second of it are ignored. A later one ends
// this process at once.
void receive_interruptions(std::initializer_list<int> numbers);
// The signal received; 0 if none.
int interruption();

}  // namespace reweave
