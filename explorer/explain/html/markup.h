// HTML that its content cannot break: text is always escaped when it becomes markup.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace reweave {

// Markup, built from elements and from text, which is escaped.
class Html {
 public:
  Html() = default;
  Html(std::string_view text);  // NOLINT(google-explicit-constructor): text reads better among elements
  Html(const std::string& text) : Html(std::string_view(text)) {}
  Html(const char* text) : Html(std::string_view(text)) {}
  // Takes markup from the build without escaping it.
  static Html trusted(std::string_view markup);

  Html& operator+=(const Html& more) {
    markup_ += more.markup_;
    return *this;
  }
  const std::string& markup() const { return markup_; }

 private:
  std::string markup_;
};

// An attribute of an element. Its value is escaped.
struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

// <name attributes>content</name>.
Html element(std::string_view name, Attributes attributes, std::initializer_list<Html> content);
// An element that has no content and no end, such as <meta>.
Html empty_element(std::string_view name, Attributes attributes);

// The text in a form that can be shown: valid UTF-8, at most `most` bytes. Control characters, invisible ones, and
// those that change the direction of text become "‹U+202E›". Tabs and line ends stay.
std::string visible(std::string_view text, std::size_t most = 2000);

}  // namespace reweave
