// The file that a command names, and whether it can be recorded.
#pragma once

#include <string>

namespace reweave {

// Finds `name` as a shell would. Throws BadInput, with the reason, if it is not a program that can be recorded.
std::string find_program(const std::string& name);

}  // namespace reweave
