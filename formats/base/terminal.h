// Output for people: loudness and colours, as chosen on the command line.
//
// `main` chooses once, before the verb begins; afterwards any thread may ask. Results go to standard output, all other
// messages to standard error.
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

// True if a progress line may be shown and rewritten: standard error is a terminal that can do it (TERM is set and not
// "dumb"), and the command line does not have --quiet.
bool shows_progress();

// True if text for `stream` is coloured. With kAuto, that is so if it is a terminal that can show colours and NO_COLOR
// is not set (no-color.org).
bool has_colors(std::FILE* stream);

enum class Style { kHeading, kFailure, kGood, kWarning };

// `text` in the style's colour, if `stream` has colours.
std::string styled(Style style, std::string_view text, std::FILE* stream = stdout);

// `text` for standard output, in which each line has the style that `style_of` gives it. Apply this last, after control
// characters in programs' output have been removed, because they would act as styles.
std::string with_styles(std::string_view text,
                        const std::function<std::optional<Style>(std::string_view line)>& style_of);

// Prints a line on standard error if the user wants at least `least`.
void say(Loudness least, const std::string& text);

// Prints a line for people who watch, "reweave: ..."; not under --quiet. Do not use it to report that a result is
// incomplete, which must always be printed.
template <typename... T>
void notice(fmt::format_string<T...> format, T&&... arguments) {
  say(Loudness::kUsual, fmt::format(format, std::forward<T>(arguments)...));
}

// The same, but only with --verbose.
template <typename... T>
void detail(fmt::format_string<T...> format, T&&... arguments) {
  say(Loudness::kVerbose, fmt::format(format, std::forward<T>(arguments)...));
}

}  // namespace reweave
