#define BOOST_TEST_MODULE escaping
#include "explorer/words/escaping.h"

#include <boost/test/unit_test.hpp>

using namespace reweave;

namespace {

constexpr const char* kReplaced = "\xEF\xBF\xBD";

}  // namespace

BOOST_AUTO_TEST_CASE(plain_text_is_utf8_without_controls) {
  BOOST_TEST(plain_text("a\tb\n") == "a b\n");
  BOOST_TEST(plain_text("\x1b[31m") == std::string(kReplaced) + "[31m");
  BOOST_TEST(plain_text(std::string_view("\0", 1)) == kReplaced);
  BOOST_TEST(plain_text("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") == "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  // Truncated, overlong, a surrogate, above U+10FFFF, a code point that XML forbids, a two-byte control character.
  for (const char* text : {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xEF\xBF\xBF", "\xC2\x9B"}) {
    const std::string plain = plain_text(text);
    BOOST_TEST(plain.starts_with(kReplaced));
    BOOST_TEST(plain_text(plain) == plain);
  }
}

BOOST_AUTO_TEST_CASE(what_xml_has_for_itself_is_escaped) {
  BOOST_TEST(xml_text("<a b=\"c\">&]]>") == "&lt;a b=&quot;c&quot;&gt;&amp;]]&gt;");
  BOOST_TEST(one_line("a\nb") == "a b");
}

BOOST_AUTO_TEST_CASE(markdown_shows_text_as_it_is) {
  BOOST_TEST(markdown_text("*a*\n<b> @c |") == "\\*a\\* &lt;b\\> &#64;c \\|");
  BOOST_TEST(markdown_code("a `` b") == "``` a `` b ```");
  BOOST_TEST(markdown_block("```\nx") == "````\n```\nx\n````\n");
}

BOOST_AUTO_TEST_CASE(words_of_a_shell_are_quoted) {
  BOOST_TEST(shell_command({"./a", "b c", "", "it's", "$(x)"}) == "./a 'b c' '' 'it'\\''s' '$(x)'");
}
