// Text of strangers (arguments of programs, what they print) within formats that have a syntax of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reweave {

// Without control characters but for line breaks, and what is not UTF-8 as U+FFFD: fit for a terminal, and for the
// others of this file, which do that themselves.
std::string plain_text(std::string_view text);
// Plain text in one line.
std::string one_line(std::string_view text);
// As an XML document's text or, of one line, an attribute's value between double quotes.
std::string xml_text(std::string_view text);
// In a line of Markdown, as it is.
std::string markdown_text(std::string_view text);
// In a line of Markdown, as code.
std::string markdown_code(std::string_view text);
// As a block of code of its own.
std::string markdown_block(std::string_view text);
// As one word of a shell's command, or a command of several.
std::string shell_word(const std::string& word);
std::string shell_command(const std::vector<std::string>& words);

}  // namespace reweave
