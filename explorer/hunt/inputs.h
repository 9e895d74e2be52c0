// What a test depends on, to tell whether a later hunt would search the same program again.
#pragma once

#include <string>

namespace reweave {

// A hash of the name and content of each file that the recorded programs executed, mapped or read. Content is that of
// now, so call this when the recording has just been made. Files that the programs made themselves do not count, nor
// those of /proc, /sys and /dev. Empty if some inputs are not known: a file was removed or replaced meanwhile, or is
// compiled Python, whose source is not read.
std::string hash_of_inputs(const std::string& recording);

}  // namespace reweave
