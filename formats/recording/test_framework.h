// Detects the test framework of a program, and how to run a single test case.
#pragma once

#include <string>

namespace reweave {

struct TestFramework {
  const char* name;
  const char* mark;    // a string in every program built with it, and in hardly any other
  const char* filter;  // option before the name of a case
  const char* list;    // option that prints the chosen cases, each in a line that begins with two spaces; empty: a
                       // program with none of them fails, or cannot tell
  const char* none;    // what a program prints that fails because no case was chosen; empty: it does not fail
};

// By the contents of the file at `path`; null if no known framework is found or the file cannot be read.
const TestFramework* framework_of(const std::string& path);
// The names of all known frameworks: "GoogleTest, Boost.Test, ...".
std::string known_frameworks();

}  // namespace reweave
