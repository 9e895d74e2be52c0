// Finds the type of a heap object in the debug information of the code that allocated it.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

namespace reweave {

// Returns the name of the type that the statement at `address` allocates, such as "Route" for `route = new Route(...)`
// or `struct Route *route = malloc(sizeof *route)`. The statement must call a constructor of one class of `bytes`
// bytes, or define a pointer to one type of that size; otherwise the name is empty. `address`: an address in the
// instruction that calls the allocator, in the file.
std::string allocated_type(Dwarf_Die* unit, Dwarf_Addr address, std::uint64_t bytes);

}  // namespace reweave
