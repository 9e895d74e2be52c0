// How the program speaks to people: loudness and colours, as the command line chose them.
//
// `main` chooses once, before the verb begins; afterwards any thread may ask. Results go to standard output, all that
// is said besides to standard error.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace reweave {

enum class Loudness { kQuiet, kUsual, kVerbose };
enum class ColorChoice { kAuto, kAlways, kNever };

void set_loudness(Loudness loudness);
void set_colors(ColorChoice choice);

// Whether a line of progress may be shown and rewritten: standard error is a terminal that can (TERM is set and not
// "dumb"), and the command line does not say --quiet.
bool shows_progress();

// Whether text for `stream` is coloured. kAuto: it is a terminal that can, and NO_COLOR is not set (no-color.org).
bool has_colors(std::FILE* stream);

enum class Style { kHeading, kFailure, kGood, kWarning };

// `text` in the style's colour, if `stream` has colours.
std::string styled(Style style, std::string_view text, std::FILE* stream = stdout);

// `text` for standard output, in which each line has the style that `style_of` gives it. Must be applied last: what
// programs wrote has been made harmless before (control characters of theirs would be styles, too).
std::string with_styles(std::string_view text,
                        const std::function<std::optional<Style>(std::string_view line)>& style_of);

// Prints a line on standard error if the user wants at least `least`.
void say(Loudness least, const std::string& text);

// A line for people who watch, "reweave: ..."; not under --quiet. What makes a result incomplete is no notice: it is
// always said.
template <typename... T>
void notice(fmt::format_string<T...> format, T&&... arguments) {
  say(Loudness::kUsual, fmt::format(format, std::forward<T>(arguments)...));
}

// Likewise, for those who ask for more by --verbose.
template <typename... T>
void detail(fmt::format_string<T...> format, T&&... arguments) {
  say(Loudness::kVerbose, fmt::format(format, std::forward<T>(arguments)...));
}

}  // namespace reweave
