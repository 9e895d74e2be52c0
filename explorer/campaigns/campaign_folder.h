// The folder of a campaign: the plan, the recordings, and what units have published.
//
// What is published is never changed. A file's name is a number and the hash of its first line; it is written under a
// name of its own and renamed, so that it is whole or not there, and written twice it is the same. Nobody locks
// anything. Any file system that has an atomic rename(2) will do.
//
// Everything in it may be a stranger's: only regular files of bounded size are read, no link is followed, and what is
// not named as we name it is left alone. Threads: may be used by several at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/campaigns/plan.h"
#include "formats/folder.h"

namespace reweave {

// What is published, each in a folder of that name.
enum class Published {
  kUnits,      // results, by number of the unit
  kPartial,    // of units that were told to stop
  kKnowledge,  // that units have gained
  kRounds,     // what was known when a round began: by round * cases + case
};

class CampaignFolder {
 public:
  // Throws BadInput if it is no campaign's.
  explicit CampaignFolder(const std::string& path);
  // Makes it, without a plan: until that is written it is no campaign.
  static CampaignFolder create(const std::string& path);
  void write_plan(const CampaignPlan& plan);

  const CampaignPlan& plan() const { return plan_; }
  const std::string& path() const { return folder_.path(); }
  const Folder& folder() const { return folder_; }
  // Of a case's recording.
  std::string recording(std::uint64_t case_index) const;

  // `line` has no line break; `tail` may follow in the file, and is not part of its name.
  void publish(Published kind, std::uint64_t number, std::string_view line, std::string_view tail = {}) const;

  struct Entry {
    std::uint64_t number;
    std::string name;
  };
  // All that there are, by number, then by name.
  std::vector<Entry> list(Published kind) const;
  // Those of one number.
  std::vector<Entry> list(Published kind, std::uint64_t number) const;
  bool has(Published kind, std::uint64_t number) const { return !list(kind, number).empty(); }

  struct Content {
    std::string line, tail, path;
  };
  // Throws BadInput if the file is not what its name says.
  Content read(Published kind, const Entry& entry) const;
  // The only file of that number; nothing if there is none. Throws BadInput if there are several: what was to be the
  // same each time is not.
  std::optional<Content> read(Published kind, std::uint64_t number) const { return read(kind, list(kind, number)); }
  // The same of those that list() found for a number.
  std::optional<Content> read(Published kind, const std::vector<Entry>& entries) const;

  // Removes files that writers which were killed have left under their own names, older than an hour. How many.
  std::uint64_t remove_leftovers() const;

 private:
  explicit CampaignFolder(Folder folder) : folder_(std::move(folder)) {}

  Folder folder_;
  CampaignPlan plan_;
};

// The folder of the recording of case `index`, in the folder `cases`.
std::string case_folder(std::uint64_t index);

}  // namespace reweave
