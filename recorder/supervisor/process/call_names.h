// Readable names of system calls, from the core's table.
#pragma once

#include <string>

namespace reweave {

std::string system_call_name(unsigned number);
// True for the record of a program's start, which has the form of a system call.
bool is_program_start(unsigned number);

}  // namespace reweave
