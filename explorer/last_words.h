// What a failing run says of itself on its standard output and standard error.
#pragma once

#include <string>
#include <string_view>

namespace reweave {

// The part of `output` that tells why the run failed, in one line: the failed assertion of a test framework with its
// place and the name of the case (GoogleTest, Boost.Test, Catch2, doctest), of assert(3), of a sanitizer, what was
// thrown, or a panic; otherwise the last line that is not empty. Without terminal escapes; empty if there is nothing.
std::string last_words(std::string_view output);

}  // namespace reweave
