// Decisions on disk, so that an interrupted prediction can continue.
//
// Text, one line per decision, appended when it is made; a line truncated by the end of the process is dropped. A
// decision is found by a fingerprint of its question, which covers the group with all its instances; the file's first
// line ties it to one trace and version. The contents are trusted, so the identity must be one that the author of the
// trace cannot know. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/base/folder.h"
#include "predictor/decide/decider.h"

namespace reweave {

class DecisionJournal {
 public:
  // Reads the file `name` in `folder` if it belongs to the user and has the same `identity`; otherwise it is replaced.
  // `folder` must outlive it. Throws BadInput if it cannot be written.
  DecisionJournal(const Folder& folder, const std::string& name, std::uint64_t identity);

  // The decision about question `key`; null if there is none.
  const Decision* find(std::uint64_t key) const;
  void add(std::uint64_t key, const Decision& decision);
  // The number of decisions read at the start.
  std::size_t known() const { return known_.size(); }
  // Removes the file: the prediction is complete.
  void remove();

 private:
  void read(const std::string& head);

  const Folder& folder_;
  std::string name_;
  std::unordered_map<std::uint64_t, Decision> known_;
  Fd out_;
};

// The fingerprint of a group under an analysis and read rule. Call it before the group is decided, because deciding
// sorts the instances.
std::uint64_t question_key(std::string_view analysis, ReadRule rule, bool keep_order, const Group& group);

}  // namespace reweave
