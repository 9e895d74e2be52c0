// A failing run's own message on its standard output and standard error.
#pragma once

#include <string>
#include <string_view>

namespace reweave {

// The part of `output` that says why the run failed, in one line: the failed assertion of a test framework with its
// place and the name of the case (GoogleTest, Boost.Test, Catch2, doctest), an assert(3), a sanitizer's report, an
// uncaught exception or a panic; otherwise the last line that is not empty. Without terminal escapes; empty if there is
// none.
std::string last_words(std::string_view output);

}  // namespace reweave
