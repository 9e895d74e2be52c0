// Names that a run makes up for files of its own, as mkstemp(3) does: a template whose last six characters are drawn
// from the time. An explored run draws others than the recorded one, and means the same file.
//
// Thread rule: the baton holder only.
#pragma once

#include <cstdint>

namespace reweave::core {

// The names are equal but for one piece of six letters and digits.
bool differ_as_made_up(const char* one, const char* other, std::uint32_t bytes);
// From now on `asked` stands for `recorded`; the two differ as made up.
void note_made_up(const char* asked, const char* recorded, std::uint32_t bytes);
// Puts what was recorded in place of pieces that were made up.
void put_recorded_names(char* names, std::uint32_t bytes);

}  // namespace reweave::core
