// Names of system calls for people, from the core's table.
#pragma once

#include <string>

namespace reweave {

std::string system_call_name(unsigned number);

}  // namespace reweave
