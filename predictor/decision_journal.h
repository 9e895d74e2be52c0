// What was decided, on disk, so that a prediction that was interrupted goes on where it was.
//
// Text, a line for each decision, appended when it is made: a line cut short by the end of the process is dropped. A
// decision is found by a fingerprint of its question, which covers the group with all its instances; the file's first
// line ties it to one trace and version. What it says is believed, so the identity of the trace must be one that who
// made the trace cannot know. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/folder.h"
#include "predictor/decider.h"

namespace reweave {

class DecisionJournal {
 public:
  // Reads what the file `name` in `folder` has of the same `identity`, if it is the user's own; anything else of that
  // name is replaced. `folder` must outlive it. Throws BadInput if it cannot be written.
  DecisionJournal(const Folder& folder, const std::string& name, std::uint64_t identity);

  // What was decided about question `key`, if anything.
  const Decision* find(std::uint64_t key) const;
  void add(std::uint64_t key, const Decision& decision);
  // Decisions that were there at the start.
  std::size_t known() const { return known_.size(); }
  // Nothing is left to go on with.
  void remove();

 private:
  void read(const std::string& head);

  const Folder& folder_;
  std::string name_;
  std::unordered_map<std::uint64_t, Decision> known_;
  Fd out_;
};

// The fingerprint of a group under an analysis and read rule. Call before the group is decided.
std::uint64_t question_key(std::string_view analysis, ReadRule rule, bool keep_order, const Group& group);

}  // namespace reweave
