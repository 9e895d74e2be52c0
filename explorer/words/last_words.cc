#include "explorer/words/last_words.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "formats/elf/source_lines.h"

namespace reweave {

namespace {

// The form of an assertion's report: a line that contains `mark`, and the following lines up to an empty one, at most
// `most` lines in all.
struct ReportRow {
  std::string_view mark;
  std::size_t most;
};

// The first row found in an output decides, with its first report.
constexpr ReportRow kReports[] = {
    {"ERROR: AddressSanitizer: ", 1},
    {"ERROR: LeakSanitizer: ", 1},
    {"WARNING: MemorySanitizer: ", 1},
    {": runtime error: ", 1},  // UndefinedBehaviorSanitizer
    {"SUMMARY: ThreadSanitizer: ", 1},
    {": Failure", 6},             // GoogleTest
    {": FAILED:", 4},             // Catch2
    {": ERROR: ", 2},             // doctest
    {": fatal error: in \"", 1},  // Boost.Test
    {": error: in \"", 1},
    {": Assertion `", 1},      // assert(3)
    {"terminate called ", 2},  // an exception that nobody caught, over two lines
    {"' panicked at ", 2},     // Rust
};

// Marks a line that names the failed case, which the report does not: the name follows, up to a space.
constexpr std::string_view kFailedCase = "[  FAILED  ] ";

// Without terminal escapes (ECMA-48: ESC [ parameters letter) and other control characters.
std::string plain(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0x1b && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) i++;
    } else if (c == '\n' || c == '\t' || c >= 0x20) {
      result += text[i] == '\t' ? ' ' : text[i];
    }
  }
  return result;
}

// Splits text into trimmed lines, without Reweave's own messages and their indented continuation lines.
std::vector<std::string_view> trimmed_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  bool own = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    own = line.starts_with("reweave: ") || (own && line.starts_with("  "));
    if (!own) lines.push_back(trimmed(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<std::string> report(const std::vector<std::string_view>& lines, const ReportRow& row) {
  const auto has_mark = [&](std::string_view line) { return line.find(row.mark) != line.npos; };
  auto line = std::find_if(lines.begin(), lines.end(), has_mark);
  if (line == lines.end()) return {};
  std::string text(*line);
  for (std::size_t more = 1; more < row.most && ++line != lines.end() && !line->empty() && line->front() != '['; more++)
    text.append(" ").append(*line);
  return text;
}

std::string failed_case(const std::vector<std::string_view>& lines) {
  for (std::string_view line : lines)
    if (line.starts_with(kFailedCase)) {
      line.remove_prefix(kFailedCase.size());
      return std::string(line.substr(0, line.find_first_of(" ,"))) + ": ";
    }
  return "";
}

}  // namespace

std::string last_words(std::string_view output) {
  const std::string text = plain(output);
  const std::vector<std::string_view> lines = trimmed_lines(text);
  for (const ReportRow& row : kReports)
    if (const auto found = report(lines, row)) return failed_case(lines) + *found;
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](std::string_view line) { return !line.empty(); });
  return last == lines.rend() ? "" : std::string(*last);
}

}  // namespace reweave
