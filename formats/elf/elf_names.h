// The names of the functions that an ELF file calls in other files, and of the symbols that it defines.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "formats/base/fd.h"

namespace reweave {

// Names of imported functions, by the address of the slot into which the dynamic loader writes the function's address.
std::map<std::uint64_t, std::string> imported_names(const Fd& file);

// Names of symbols that other files can use, without versions.
std::set<std::string> defined_names(const Fd& file);

}  // namespace reweave
