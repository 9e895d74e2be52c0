#include "recorder/core/explored/recorded/made_up_names.h"

#include "recorder/core/base/sys.h"
#include "recorder/core/explored/model_memory.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kDrawn = 6;     // characters of a template's XXXXXX, and the fewest digits of a time
constexpr std::uint32_t kLongest = 24;  // digits of a time
constexpr std::uint32_t kMost = 256, kMostInName = 4;

// A part by which two names differ. Characters that are equal by chance at its ends are not in it: they need no
// replacement.
struct Piece {
  std::uint32_t length;
  char asked[kLongest], recorded[kLongest];
};
IN_MODEL Piece pieces[kMost];
IN_MODEL std::uint32_t count;

struct Span {
  std::uint32_t at, end;
  std::uint32_t length() const { return end - at; }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_drawn(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// The two names, of the same length.
struct Names {
  const char *one, *other;
  std::uint32_t bytes;

  bool differ(std::uint32_t at) const { return one[at] != other[at]; }
  // The characters around `at` that are of this kind in both names; empty if those at `at` are not.
  template <typename Kind>
  Span around(std::uint32_t at, const Kind& is_of_kind) const {
    const auto both = [&](std::uint32_t i) { return is_of_kind(one[i]) && is_of_kind(other[i]); };
    Span span = {at, at};
    while (span.end < bytes && both(span.end)) span.end++;
    while (span.end != at && span.at > 0 && both(span.at - 1)) span.at--;
    return span;
  }
  std::uint32_t last_difference(Span within) const {
    std::uint32_t last = within.at;
    for (std::uint32_t i = within.at; i < within.end; i++) last = differ(i) ? i : last;
    return last;
  }
};

bool starts_with(const char* text, const Piece& piece) {
  for (std::uint32_t i = 0; i < piece.length; i++)
    if (text[i] != piece.asked[i]) return false;
  return true;
}

// Returns the part to replace, from the difference at `at` on; empty if the names do not differ there like made-up
// ones. A template has kDrawn letters and digits. Fewer than kFewest differing characters are too common in other names
// to look for them alone. Then the part is the last kDrawn characters that contain them, because a template is usually
// at the end.
Span drawn_piece(const Names& names, std::uint32_t at) {
  constexpr std::uint32_t kFewest = 4;
  const Span run = names.around(at, is_drawn);
  const Span differing = {at, names.last_difference({at, run.end}) + 1};
  if (run.length() < kDrawn || differing.length() > kDrawn) return {at, at};
  if (differing.length() >= kFewest) return differing;
  const std::uint32_t end = at + kDrawn < run.end ? at + kDrawn : run.end;
  return {end - kDrawn, end};
}

// The same for a time: its last digits differ.
Span time_piece(const Names& names, std::uint32_t at) {
  const Span run = names.around(at, is_digit);
  return run.length() < kDrawn || run.end - at > kLongest ? Span{at, at} : Span{at, run.end};
}

// Finds the parts in which the names differ. Returns their number; 0 if the names are equal or do not differ like
// made-up ones.
std::uint32_t find_pieces(const Names& names, Span (&found)[kMostInName]) {
  std::uint32_t n = 0;
  for (std::uint32_t at = 0; at < names.bytes; at++) {
    if (!names.differ(at)) continue;
    Span piece = drawn_piece(names, at);
    if (piece.length() == 0) piece = time_piece(names, at);
    if (piece.length() == 0 || n == kMostInName) return 0;
    found[n++] = piece;
    at = piece.end - 1;
  }
  return n;
}

void note_piece(const Names& names, Span span) {
  if (count == kMost) return;
  Piece& piece = pieces[count++];
  piece.length = span.length();
  memcpy(piece.asked, names.one + span.at, piece.length);
  memcpy(piece.recorded, names.other + span.at, piece.length);
}

}  // namespace

bool differ_as_made_up(const char* one, const char* other, std::uint32_t bytes) {
  Span found[kMostInName];
  return find_pieces({one, other, bytes}, found) != 0;
}

void note_made_up(const char* asked, const char* recorded, std::uint32_t bytes) {
  const Names names = {asked, recorded, bytes};
  Span found[kMostInName];
  for (std::uint32_t n = find_pieces(names, found), i = 0; i < n; i++) note_piece(names, found[i]);
}

void put_recorded_names(char* names, std::uint32_t bytes) {
  for (std::uint32_t at = 0; at < bytes;) {
    std::uint32_t i = 0;
    while (i < count && (pieces[i].length > bytes - at || !starts_with(names + at, pieces[i]))) i++;
    if (i < count) memcpy(names + at, pieces[i].recorded, pieces[i].length);
    at += i < count ? pieces[i].length : 1;  // what was put there is not replaced again
  }
}

}  // namespace reweave::core
