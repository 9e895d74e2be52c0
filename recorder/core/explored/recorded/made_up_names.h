// Names that a run makes up for its own files: a template in which mkstemp(3) puts six characters, or a name with the
// time in digits. An explored run gets other characters than the recorded one, but means the same file.
//
// Thread rule: the baton holder only.
#pragma once

#include <cstdint>

namespace reweave::core {

// True if the names are equal except for parts that are made up: up to six letters and digits, or digits of a time.
bool differ_as_made_up(const char* one, const char* other, std::uint32_t bytes);
// From now on the name `asked` means the recorded name `recorded`; the two differ as above.
void note_made_up(const char* asked, const char* recorded, std::uint32_t bytes);
// Replaces made-up pieces by the recorded ones.
void put_recorded_names(char* names, std::uint32_t bytes);

}  // namespace reweave::core
