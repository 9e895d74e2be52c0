#include "explorer/words/escaping.h"

#include <algorithm>

#include "formats/base/utf8.h"

namespace reweave {

namespace {

constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";  // U+FFFD

// The size of the character at the beginning of `text`; 0 if it is not UTF-8, or not allowed in XML.
std::size_t length_of_character(std::string_view text) {
  const auto [code, bytes] = first_character(text);
  const bool is_control = code >= 0x80 && code < 0xA0;
  return is_control || code == 0xFFFE || code == 0xFFFF ? 0 : bytes;
}

// Replaces each character of the plain text by `escaped(c)`, or keeps it if that returns nothing.
template <typename Escape>
std::string with_escapes(std::string_view text, Escape escaped) {
  std::string result;
  for (const char c : plain_text(text)) {
    const std::string_view instead = escaped(c);
    instead.empty() ? result.append(1, c) : result.append(instead);
  }
  return result;
}

// A run of backticks longer than any run in the text.
std::string fence(std::string_view text, std::size_t least) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(least, longest + 1), '`');
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool is_control = length == 1 && (first < 0x20 || first == 0x7F) && first != '\n';
    if (length == 0 || (is_control && first != '\t'))
      result += kReplacementText;
    else if (first == '\t')
      result += ' ';
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string one_line(std::string_view text) {
  return with_escapes(text, [](char c) -> std::string_view { return c == '\n' ? " " : ""; });
}

std::string xml_text(std::string_view text) {
  return with_escapes(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      default:
        return "";
    }
  });
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}[]#!|~&<>$";
  std::string result;
  for (const char c : one_line(text)) {
    if (c == '<')
      result += "&lt;";
    else if (c == '@')
      result += "&#64;";  // so that it mentions no user
    else if (kSpecial.find(c) != kSpecial.npos)
      result.append("\\").append(1, c);
    else
      result += c;
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  const std::string line = one_line(text), mark = fence(line, 1);
  return mark + " " + line + " " + mark;
}

std::string markdown_block(std::string_view text) {
  const std::string plain = plain_text(text), mark = fence(plain, 3);
  return mark + "\n" + plain + (plain.ends_with('\n') ? "" : "\n") + mark + "\n";
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted.append("'\\''") : quoted.append(1, c);
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  return command;
}

}  // namespace reweave
