// An assumption about schedules: what `explain` tries as a remedy, and what `explore --assume` searches under. The
// program is not changed: only schedules in which the assumption holds are made (explorer/strategies/guided.cc).
//
//   uninterrupted BLOCK[ and BLOCK ...][ by PLACE[ and PLACE ...]]
//       BLOCK is FUNCTION:LINE-LINE, each line also as LINE.N, or PLACE..PLACE, or one PLACE. While a thread is between
//       the first operation of a block and its last one, no other thread begins a block, or uses the object that the
//       first operation uses. With `by`, other threads do not execute the operations at these places instead of those
//       on the object.
//   PLACE only after PLACE
//       The first is never executed before the second was executed once, by any thread.
//
// explorer/code_operations.h says what a PLACE is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/code_operations.h"
#include "explorer/guide.h"

namespace reweave {

// In the user's words.
struct Assumption {
  struct Block {
    CodePlace begin, end;
    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;
  std::vector<CodePlace> rivals;
  std::optional<CodePlace> first, then;  // `then` only after `first`; nothing: it is about blocks

  bool operator==(const Assumption&) const = default;
};
// Throws BadInput.
Assumption parse_assumption(const std::string& text);
std::string text_of(const Assumption& assumption);

// In code.
struct AssumedCode {
  struct Block {
    std::uint64_t begin, end;
    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;
  std::vector<std::uint64_t> rivals;  // none: whatever uses the object of a block
  std::uint64_t first = 0, then = 0;  // 0: it is about blocks

  bool operator==(const AssumedCode&) const = default;
};
// Throws BadInput if the program has no such operations.
AssumedCode code_of(const Assumption& assumption, CodeOperations& operations);
Assumption assumption_of(const AssumedCode& code, CodeOperations& operations);

// What holds in runs under the assumption, added to `held`. Throws BadInput if that is more than a run can have.
void assume(const AssumedCode& code, HeldGoals& held);
HeldGoals held_under(const AssumedCode& code);

}  // namespace reweave
