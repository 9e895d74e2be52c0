// The names by which an ELF file calls other files' functions, and those that it defines.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "formats/fd.h"

namespace reweave {

// Where the dynamic loader writes the addresses of imported functions: their names, by the address of the slot.
std::map<std::uint64_t, std::string> imported_names(const Fd& file);

// Names of symbols that other files can use, without versions.
std::set<std::string> defined_names(const Fd& file);

}  // namespace reweave
