// Which test framework a program is built with, and how it is told to run one test case only.
#pragma once

#include <string>

namespace reweave {

struct TestFramework {
  const char* name;
  const char* mark;    // that every program built with it has somewhere, and hardly any other
  const char* filter;  // option before the name of a case
};

// From what the file at `path` has in it; null: it is none of those that are known, or cannot be read.
const TestFramework* framework_of(const std::string& path);
// "GoogleTest, Boost.Test, ...": all that are known.
std::string known_frameworks();

}  // namespace reweave
