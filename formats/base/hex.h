// Bytes as hexadecimal digits, as in build-ids.
#pragma once

#include <cstddef>
#include <string>

namespace reweave {

// Two lower-case digits for each of `count` bytes.
inline std::string hex_digits(const unsigned char* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace reweave
