// Examples of verbs: their --help and their manual pages show them, and a test runs them.
#pragma once

#include <string>
#include <string_view>

namespace reweave {

// The examples of `verb` as a section of its help; empty if it has none.
std::string examples_of(std::string_view verb);

// The first of them, such as "reweave hunt -- ./program"; empty if there is none.
std::string_view first_example_of(std::string_view verb);

}  // namespace reweave
