// Reads text, which may be invalid UTF-8, character by character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace reweave {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with a valid character
};

// The character at the beginning of `text`. Invalid if it is cut, overlong, a surrogate or beyond U+10FFFF (RFC 3629).
inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (text.empty() || (lead >= 0x80 && lead < 0xC2) || lead > 0xF4) return {};
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; i++) {
    if ((byte(i) & 0xC0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || is_surrogate || code > 0x10FFFF) return {};
  return {code, bytes};
}

// The text if it has at most `most` bytes; else as many whole characters of it as fit into `most` bytes, and "...".
inline std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) end--;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace reweave
