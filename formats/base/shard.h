// A share of work that several machines divide, such as the jobs of a CI service: "2/4" is the second of four.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct Shard {
  std::uint64_t index = 0;  // from 0
  std::uint64_t count = 1;

  bool has(std::uint64_t number) const { return number % count == index; }
};

// Throws BadInput if the text is not a shard such as "2/4", of at most `most` shards.
Shard parse_shard(const std::string& text, std::uint64_t most);

}  // namespace reweave
