#include "recorder/core/explored/recorded/made_up_names.h"

#include "recorder/core/base/sys.h"
#include "recorder/core/explored/model_memory.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kDrawn = 6;  // characters of a template's XXXXXX
constexpr std::uint32_t kMost = 64;

struct Piece {
  char asked[kDrawn], recorded[kDrawn];
};
IN_MODEL Piece pieces[kMost];
IN_MODEL std::uint32_t count;

bool is_drawn(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool starts_with(const char* text, const char (&piece)[kDrawn]) {
  for (std::uint32_t i = 0; i < kDrawn; i++)
    if (text[i] != piece[i]) return false;
  return true;
}

// The start of the piece that contains all differences between the two; `bytes` if there is no such piece, or no
// difference.
std::uint32_t find_piece(const char* one, const char* other, std::uint32_t bytes) {
  std::uint32_t first = bytes, last = 0;
  for (std::uint32_t i = 0; i < bytes; i++) {
    if (one[i] == other[i]) continue;
    if (first == bytes) first = i;
    last = i;
  }
  // Characters at its ends may be equal by chance.
  for (std::uint32_t at = last < kDrawn ? 0 : last + 1 - kDrawn; at <= first && at + kDrawn <= bytes; at++) {
    bool drawn = true;
    for (std::uint32_t i = at; i < at + kDrawn; i++) drawn = drawn && is_drawn(one[i]) && is_drawn(other[i]);
    if (drawn && first != bytes) return at;
  }
  return bytes;
}

}  // namespace

bool differ_as_made_up(const char* one, const char* other, std::uint32_t bytes) {
  return find_piece(one, other, bytes) != bytes;
}

void note_made_up(const char* asked, const char* recorded, std::uint32_t bytes) {
  const std::uint32_t at = find_piece(asked, recorded, bytes);
  if (count == kMost || at == bytes) return;
  memcpy(pieces[count].asked, asked + at, kDrawn);
  memcpy(pieces[count].recorded, recorded + at, kDrawn);
  count++;
}

void put_recorded_names(char* names, std::uint32_t bytes) {
  for (std::uint32_t at = 0; count != 0 && at + kDrawn <= bytes; at++)
    for (std::uint32_t i = 0; i < count; i++)
      if (starts_with(names + at, pieces[i].asked)) memcpy(names + at, pieces[i].recorded, kDrawn);
}

}  // namespace reweave::core
