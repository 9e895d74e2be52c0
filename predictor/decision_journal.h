// What was decided, on disk, so that a prediction that was interrupted goes on where it was.
//
// Text, a line for each decision, appended when it is made: a line cut short by the end of the process is dropped. A
// decision is found by a fingerprint of its question, which covers the group with all its instances; the file's first
// line ties it to one trace and version. Not thread-safe.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "predictor/decider.h"

namespace reweave {

class DecisionJournal {
 public:
  // Reads what there is of the same `identity`; anything else in the file is replaced. Throws BadInput if it cannot be
  // written.
  DecisionJournal(const std::string& path, std::uint64_t identity);

  // What was decided about question `key`, if anything.
  const Decision* find(std::uint64_t key) const;
  void add(std::uint64_t key, const Decision& decision);
  // Decisions that were there at the start.
  std::size_t known() const { return known_.size(); }
  // Nothing is left to go on with.
  void remove();

 private:
  bool read(const std::string& head);

  std::string path_;
  std::unordered_map<std::uint64_t, Decision> known_;
  std::ofstream out_;
};

// The fingerprint of a group under an analysis and read rule. Call before the group is decided.
std::uint64_t question_key(std::string_view analysis, ReadRule rule, bool keep_order, const Group& group);

}  // namespace reweave
