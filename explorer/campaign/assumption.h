// An assumption about schedules: `explain` tries it as a remedy, `explore --assume` searches under it. The program is
// not changed: only schedules in which the assumption holds are run (explorer/strategies/guided.cc).
//
//   uninterrupted BLOCK[ and BLOCK ...][ by PLACE[ and PLACE ...]]
//       BLOCK is FUNCTION:LINE-LINE, where each LINE may also be LINE.N, or PLACE..PLACE, or one PLACE. While a thread
//       is between the first operation of a block and its last one, no other thread begins a block or uses the object
//       that the first operation uses. With `by`, other threads may use that object, but do not execute the operations
//       at the given places.
//   PLACE only after PLACE
//       The first place is executed only after some thread has executed the second.
//
// explorer/campaign/code_operations.h defines PLACE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign/code_operations.h"
#include "explorer/run/guide.h"

namespace reweave {

// An assumption as the user writes it.
struct Assumption {
  struct Block {
    CodePlace begin, end;
    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;
  std::vector<CodePlace> rivals;
  std::optional<CodePlace> first, then;  // `then` only after `first`; both empty if there are blocks

  bool operator==(const Assumption&) const = default;
};
// Throws BadInput.
Assumption parse_assumption(const std::string& text);
std::string text_of(const Assumption& assumption);

// An assumption with code addresses.
struct AssumedCode {
  struct Block {
    std::uint64_t begin, end;
    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;
  std::vector<std::uint64_t> rivals;  // empty: any use of the object of a block
  std::uint64_t first = 0, then = 0;  // both 0 if there are blocks

  bool operator==(const AssumedCode&) const = default;
};
// Throws BadInput if the program has no such operations.
AssumedCode code_of(const Assumption& assumption, CodeOperations& operations);
Assumption assumption_of(const AssumedCode& code, CodeOperations& operations);

// Adds the orders and regions that enforce the assumption to `held`. Throws BadInput if these exceed the
// number that a run can have.
void assume(const AssumedCode& code, HeldGoals& held);
HeldGoals held_under(const AssumedCode& code);

}  // namespace reweave
