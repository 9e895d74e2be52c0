// Where the operations of an old build are in a new one: by function and source line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explorer/code_operations.h"
#include "explorer/fixed/old_failure.h"

namespace reweave {

class LineMap {
 public:
  explicit LineMap(Places& places) : places_(places), operations_(places) {}

  // The code of the operation that was that step; none if the function has no such line any more. A line may have
  // moved, but reads as before; of several that do, the one that moved as its surroundings did.
  std::optional<std::uint64_t> find(const OldStep& step);

 private:
  struct Line {
    int number;
    std::string text;
    std::uint64_t pc;  // of one of its operations
  };
  const std::vector<Line>& lines_of(const std::string& function);

  Places& places_;
  CodeOperations operations_;
  std::map<std::string, std::vector<Line>> lines_;
  std::map<std::string, int> moved_;  // by how many lines, in that function, lines that are there once had moved
};

}  // namespace reweave
