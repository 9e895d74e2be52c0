// Lines of source files, which debug information names: it may be a stranger's.
#pragma once

#include <string>
#include <vector>

namespace reweave {

// All lines of the regular file at `path`; none if it cannot be read or is larger than source files are.
std::vector<std::string> source_lines(const std::string& path);

}  // namespace reweave
