#include "recorder/core/explored/recorded/made_up_names.h"

#include "recorder/core/base/sys.h"
#include "recorder/core/explored/model_memory.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kDrawn = 6;  // characters of a template's XXXXXX
constexpr std::uint32_t kMost = 64;

// The characters by which two names differ, and those between them. They are only a part of what was drawn if some
// characters were drawn alike by chance, and equal characters need no replacement.
struct Piece {
  std::uint32_t length;
  char asked[kDrawn], recorded[kDrawn];
};
IN_MODEL Piece pieces[kMost];
IN_MODEL std::uint32_t count;

bool is_drawn(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool are_drawn(const char* text, std::uint32_t length) {
  for (std::uint32_t i = 0; i < length; i++)
    if (!is_drawn(text[i])) return false;
  return true;
}

bool starts_with(const char* text, const char* piece, std::uint32_t length) {
  for (std::uint32_t i = 0; i < length; i++)
    if (text[i] != piece[i]) return false;
  return true;
}

struct Span {
  std::uint32_t at, length;  // length 0: there is none
};

// From the first to the last difference.
Span differences(const char* one, const char* other, std::uint32_t bytes) {
  std::uint32_t first = bytes, last = 0;
  for (std::uint32_t i = 0; i < bytes; i++) {
    if (one[i] == other[i]) continue;
    if (first == bytes) first = i;
    last = i;
  }
  return first == bytes ? Span{0, 0} : Span{first, last + 1 - first};
}

// The last kDrawn letters and digits that contain the span; a template usually ends with what is drawn.
Span widened(Span span, const char* one, const char* other, std::uint32_t bytes) {
  if (span.length == 0 || span.length > kDrawn) return {0, 0};
  const std::uint32_t end = span.at + span.length;
  const std::uint32_t earliest = end < kDrawn ? 0 : end - kDrawn;
  for (std::uint32_t at = span.at + 1; at-- > earliest;) {
    if (at + kDrawn <= bytes && are_drawn(one + at, kDrawn) && are_drawn(other + at, kDrawn)) return {at, kDrawn};
  }
  return {0, 0};
}

// What is to be replaced; length 0 if the names do not differ as made up. Fewer than kFewest differences are too common
// in other names to be looked for by themselves.
Span made_up_piece(const char* one, const char* other, std::uint32_t bytes) {
  constexpr std::uint32_t kFewest = 4;
  const Span span = differences(one, other, bytes);
  const Span wide = widened(span, one, other, bytes);
  return wide.length == 0 || span.length < kFewest ? wide : span;
}

}  // namespace

bool differ_as_made_up(const char* one, const char* other, std::uint32_t bytes) {
  return made_up_piece(one, other, bytes).length != 0;
}

void note_made_up(const char* asked, const char* recorded, std::uint32_t bytes) {
  const Span piece = made_up_piece(asked, recorded, bytes);
  if (count == kMost || piece.length == 0) return;
  pieces[count].length = piece.length;
  memcpy(pieces[count].asked, asked + piece.at, piece.length);
  memcpy(pieces[count].recorded, recorded + piece.at, piece.length);
  count++;
}

void put_recorded_names(char* names, std::uint32_t bytes) {
  for (std::uint32_t at = 0; at < bytes;) {
    std::uint32_t i = 0;
    while (i < count && (pieces[i].length > bytes - at || !starts_with(names + at, pieces[i].asked, pieces[i].length)))
      i++;
    if (i < count) memcpy(names + at, pieces[i].recorded, pieces[i].length);
    at += i < count ? pieces[i].length : 1;  // what was put there is not replaced again
  }
}

}  // namespace reweave::core
