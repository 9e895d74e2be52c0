#include "explorer/explain/html/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/base/utf8.h"

namespace reweave {

Html::Html(std::string_view text) {
  markup_.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        markup_ += "&amp;";
        break;
      case '<':
        markup_ += "&lt;";
        break;
      case '>':
        markup_ += "&gt;";
        break;
      case '"':
        markup_ += "&quot;";
        break;
      case '\'':
        markup_ += "&#39;";
        break;
      default:
        markup_ += c;
    }
}

Html Html::trusted(std::string_view markup) {
  Html html;
  html.markup_ = markup;
  return html;
}

Html empty_element(std::string_view name, Attributes attributes) {
  std::string tag = fmt::format("<{}", name);
  for (const Attribute& attribute : attributes)
    tag += fmt::format(" {}=\"{}\"", attribute.name, Html(attribute.value).markup());
  return Html::trusted(tag + ">");
}

Html element(std::string_view name, Attributes attributes, std::initializer_list<Html> content) {
  Html html = empty_element(name, attributes);
  for (const Html& part : content) html += part;
  html += Html::trusted(fmt::format("</{}>", name));
  return html;
}

namespace {

struct Range {
  char32_t first, last;
};
// Control characters, direction marks and overrides, characters without width, line separators, tags, noncharacters.
constexpr std::array<Range, 13> kUnseen = {{{0x00, 0x08},
                                            {0x0b, 0x1f},
                                            {0x7f, 0x9f},
                                            {0xad, 0xad},
                                            {0x61c, 0x61c},
                                            {0x180e, 0x180e},
                                            {0x200b, 0x200f},
                                            {0x2028, 0x202e},
                                            {0x2060, 0x206f},
                                            {0xfdd0, 0xfdef},
                                            {0xfeff, 0xfeff},
                                            {0xfff9, 0xffff},
                                            {0xe0000, 0xe007f}}};
constexpr char32_t kReplacement = 0xfffd;

bool is_unseen(char32_t c) {
  return c != kReplacement &&
         std::ranges::any_of(kUnseen, [=](Range range) { return c >= range.first && c <= range.last; });
}

// Removes the next character from `text` and returns it; kReplacement for a byte that starts no character.
char32_t next_character(std::string_view& text) {
  const auto [code, bytes] = first_character(text);
  text.remove_prefix(std::max<std::size_t>(bytes, 1));
  return bytes == 0 ? kReplacement : code;
}

}  // namespace

std::string visible(std::string_view text, std::size_t most) {
  std::string shown;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = next_character(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (shown.size() + bytes.size() > most) return shown + "…";
    if (is_unseen(c))
      shown += fmt::format("‹U+{:04X}›", static_cast<std::uint32_t>(c));
    else
      shown += c == kReplacement ? std::string_view("\uFFFD") : bytes;
  }
  return shown;
}

}  // namespace reweave
