#define BOOST_TEST_MODULE utf8
#include "formats/base/utf8.h"

#include <boost/test/unit_test.hpp>

using namespace reweave;

BOOST_AUTO_TEST_CASE(characters_of_one_to_four_bytes) {
  const auto is = [](std::string_view text, char32_t code, std::size_t bytes) {
    const Utf8Character got = first_character(text);
    return got.code == code && got.bytes == bytes;
  };
  BOOST_TEST(is("ab", U'a', 1));
  BOOST_TEST(is("\xC3\xA4.", 0xE4, 2));
  BOOST_TEST(is("\xE2\x82\xAC", 0x20AC, 3));
  BOOST_TEST(is("\xF0\x9F\x98\x80", 0x1F600, 4));
  for (const char* text : {"", "\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"})
    BOOST_TEST(first_character(text).bytes == 0);
}

BOOST_AUTO_TEST_CASE(text_is_cut_between_characters) {
  BOOST_TEST(shortened("abc", 3) == "abc");
  BOOST_TEST(shortened("abcd", 3) == "abc...");
  BOOST_TEST(shortened("a\xE2\x82\xAC\xE2\x82\xAC", 4) == "a\xE2\x82\xAC...");
  BOOST_TEST(shortened("a\xE2\x82\xAC\xE2\x82\xAC", 6) == "a\xE2\x82\xAC...");
  BOOST_TEST(shortened("\x80\x80\x80\x80", 2) == "...");
}
