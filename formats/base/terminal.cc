#include "formats/base/terminal.h"

#include <fmt/color.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace reweave {

namespace {

std::atomic<Loudness> chosen_loudness{Loudness::kUsual};
std::atomic<ColorChoice> chosen_colors{ColorChoice::kAuto};

bool is_able_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

fmt::text_style look_of(Style style) {
  switch (style) {
    case Style::kHeading:
      return fmt::emphasis::bold;
    case Style::kFailure:
      return fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red);
    case Style::kGood:
      return fmt::fg(fmt::terminal_color::green);
    case Style::kWarning:
      return fmt::fg(fmt::terminal_color::yellow);
  }
  return {};
}

}  // namespace

void set_loudness(Loudness loudness) { chosen_loudness = loudness; }
void set_colors(ColorChoice choice) { chosen_colors = choice; }

bool shows_progress() { return chosen_loudness != Loudness::kQuiet && is_able_terminal(STDERR_FILENO); }

bool has_colors(std::FILE* stream) {
  if (chosen_colors != ColorChoice::kAuto) return chosen_colors == ColorChoice::kAlways;
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && is_able_terminal(fileno(stream));
}

std::string styled(Style style, std::string_view text, std::FILE* stream) {
  return has_colors(stream) ? fmt::format(look_of(style), "{}", text) : std::string(text);
}

std::string with_styles(std::string_view text,
                        const std::function<std::optional<Style>(std::string_view line)>& style_of) {
  if (!has_colors(stdout)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::optional<Style> style = style_of(line);
    result += style ? styled(*style, line) : std::string(line);
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

void say(Loudness least, const std::string& text) {
  if (chosen_loudness < least) return;
  fmt::print(stderr, "reweave: {}\n", text);
  std::fflush(stderr);
}

}  // namespace reweave
