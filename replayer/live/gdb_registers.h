// Registers of x86-64 in the form of gdb's remote protocol.
#pragma once

#include <string>
#include <vector>

#include "replayer/live/traced_process.h"

namespace reweave {

// The description that gdb reads (target.xml).
std::string target_description();

// The values of all registers in the order of the description.
std::vector<std::byte> all_registers(const TracedProcess& process, pid_t lwp);
void set_all_registers(TracedProcess& process, pid_t lwp, const std::vector<std::byte>& values);

// The offset of a register in these values, and its bytes; {0, 0} if there is none with that number.
std::pair<std::size_t, std::size_t> place_of_register(std::size_t number);

}  // namespace reweave
