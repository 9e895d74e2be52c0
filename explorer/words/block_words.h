// Names heap blocks by what was allocated, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/words/places.h"

namespace reweave {

// "the Route that RouteCache::add (routes.cc:19) allocated", by the innermost function of the user's on the stack;
// "the block of 24 bytes that ..." if its type is not known. `allocated`: the code that allocated it, then its callers.
std::string block_words(std::uint64_t bytes, const std::vector<std::uint64_t>& allocated, Places& places);

// "Route" for "std::make_shared<Route, int&>(int&)": the type of the objects that a function of the standard library
// allocates, from its demangled name. "array of int" for the allocators of containers. Empty if it is not known.
std::string type_allocated_by(const std::string& function);

}  // namespace reweave
