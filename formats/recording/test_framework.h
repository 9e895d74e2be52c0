// Detects the test framework of a program, and how to run a single test case.
#pragma once

#include <string>

namespace reweave {

struct TestFramework {
  const char* name;
  const char* mark;    // a string in every program built with it, and in hardly any other
  const char* filter;  // option before the name of a case
  const char* list;    // option that lists the chosen cases, each on a line that begins with two spaces; empty if a
                       // program fails when no case is chosen, or cannot list the cases in this form
  const char* none;    // message of a program that fails because no case was chosen; empty: it does not fail
};

// Looks at the contents of the file at `path`. Null if no known framework is found or the file cannot be read.
const TestFramework* framework_of(const std::string& path);
// The names of all known frameworks: "GoogleTest, Boost.Test, ...".
std::string known_frameworks();

}  // namespace reweave
