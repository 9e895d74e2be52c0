// The inputs of a test, to tell whether a later hunt would search the same program again.
#pragma once

#include <string>

namespace reweave {

// A hash of the name and content of each file that the recorded programs executed, mapped or read. The content is read
// now, so call this when the recording has just been made. Files that the programs made themselves do not count, nor
// those of /proc, /sys and /dev. Returns an empty text if some inputs are not known, because a file was removed or
// replaced meanwhile, or holds compiled Python, whose source is not read.
std::string hash_of_inputs(const std::string& recording);

}  // namespace reweave
