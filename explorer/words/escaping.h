// Escapes untrusted text (arguments of programs, their output) for formats that have a syntax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reweave {

// The text without control characters except line breaks, and with U+FFFD for bytes that are not UTF-8: safe for a
// terminal. The other functions of this file do the same first.
std::string plain_text(std::string_view text);
// Plain text in one line.
std::string one_line(std::string_view text);
// Escapes for use as text in an XML document or, if it is one line, as an attribute's value in double quotes.
std::string xml_text(std::string_view text);
// As literal text in a line of Markdown.
std::string markdown_text(std::string_view text);
// As code in a line of Markdown.
std::string markdown_code(std::string_view text);
// As a Markdown code block.
std::string markdown_block(std::string_view text);
// As one word of a shell command, or a shell command of several words.
std::string shell_word(const std::string& word);
std::string shell_command(const std::vector<std::string>& words);

}  // namespace reweave
