// Short names of C++ functions, as people say them.
#pragma once

#include <string>
#include <string_view>

namespace reweave {

// A demangled name without the parts that a reader does not need to find the function: the types of parameters and the
// result, template arguments, qualifiers and ABI tags. "std::string f<int>(int) const" is "f", and a lambda is
// "main::{lambda}". A name that is not C++ stays as it is.
std::string short_name(std::string_view demangled);

}  // namespace reweave
