// Finds the operations of an old build in a new one, by function and source line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explorer/campaign/code_operations.h"
#include "explorer/fixed/old_failure.h"

namespace reweave {

class LineMap {
 public:
  explicit LineMap(Places& places) : places_(places), operations_(places) {}

  // The code of the step's operation in the new build; none if the function no longer has a line with that text. The
  // line may have moved; of several lines with the text, the one that moved like its surroundings is taken.
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
  std::map<std::string, int> moved_;  // lines by which the last unambiguous line of a function moved
};

}  // namespace reweave
