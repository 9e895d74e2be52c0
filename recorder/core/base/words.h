// Parsing text word by word.
#pragma once

#include "recorder/core/base/sys.h"

namespace reweave::core {

// A cursor in the text of a /proc file, or in a path below /proc.
struct Words {
  const char* at;
  bool take(const char* word) {
    if (!starts_with(at, word)) return false;
    at += string_length(word);
    return true;
  }
  long number() {
    long value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = value * 10 + (*at - '0');
    return value;
  }
};

}  // namespace reweave::core
