// Checks of numbers on the command line, for CLI::Option::check. They return the error, or an empty string. The
// parser's own conversions accept -1 as a large unsigned number.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace reweave {

using ArgumentCheck = std::function<std::string(const std::string&)>;

// A whole number, in decimal digits, of at least `least` and at most `most`.
inline ArgumentCheck whole_number(std::uint64_t least = 0,
                                  std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) return {};
    return "'" + text + "' is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  };
}

// A number of seconds, 0 or more.
inline ArgumentCheck seconds_number() {
  return [](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value >= 0) return {};
    return "'" + text + "' is not a number of seconds, 0 or more";
  };
}

}  // namespace reweave
