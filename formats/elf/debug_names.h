// Names of functions in debug information and symbol tables.
#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace reweave {

std::string demangle(const char* name);

// A demangled name without its parameters: "a::(anonymous namespace)::f" for "a::(anonymous namespace)::f(int
// (*)(char)) const". Clones made by the compiler ("f(int) [clone .part.0]") keep theirs.
std::string without_parameters(const std::string& name);

// The name of a function's DIE, or of the declaration or abstract origin that the DIE refers to.
std::string function_name(Dwarf_Die* die);

}  // namespace reweave
