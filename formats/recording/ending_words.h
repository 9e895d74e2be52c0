// The end of a run, in words for people.
#pragma once

#include <functional>
#include <string>

namespace reweave {

// Returns the message with which a recording's run ended, with addresses in it replaced by names, where the programs or
// their debug information have any. `record` and `replay` call it; a folder above them implements it.
using EndingWords = std::function<std::string(const std::string& recording, const std::string& message)>;

}  // namespace reweave
