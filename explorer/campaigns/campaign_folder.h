// The folder of a campaign: the plan, the recordings, and what units have published.
//
// Published files never change. A file's name is a number and the hash of its first line. It is written under a
// temporary name and then renamed, so that it is either whole or missing, and writing it twice gives the same file.
// There are no locks. Any file system with an atomic rename(2) will do.
//
// The content is not trusted: only regular files of bounded size are read, no link is followed, and files with other
// names than ours are ignored. Threads: several may use one object at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/campaigns/plan.h"
#include "formats/base/folder.h"

namespace reweave {

// The kinds of published files, each in a folder of its own.
enum class Published {
  kUnits,      // results, by number of the unit
  kPartial,    // results of units that were interrupted or could not be searched, by unit
  kKnowledge,  // knowledge gained by units, by unit
  kRounds,     // the knowledge at the start of a round, by round * cases + case
};

class CampaignFolder {
 public:
  // Throws BadInput if it is not the folder of a campaign.
  explicit CampaignFolder(const std::string& path);
  // Creates the folder without a plan. It is not a campaign before write_plan().
  static CampaignFolder create(const std::string& path);
  void write_plan(const CampaignPlan& plan);

  const CampaignPlan& plan() const { return plan_; }
  const std::string& path() const { return folder_.path(); }
  const Folder& folder() const { return folder_; }
  // The path of a case's recording.
  std::string recording(std::uint64_t case_index) const;

  // `line` has no line break; `tail` may follow in the file, and is not part of its name.
  void publish(Published kind, std::uint64_t number, std::string_view line, std::string_view tail = {}) const;

  struct Entry {
    std::uint64_t number;
    std::string name;
  };
  // All entries, sorted by number, then by name.
  std::vector<Entry> list(Published kind) const;
  // The entries with one number.
  std::vector<Entry> list(Published kind, std::uint64_t number) const;
  bool has(Published kind, std::uint64_t number) const { return !list(kind, number).empty(); }

  struct Content {
    std::string line, tail, path;
  };
  // Throws BadInput if the file is not what its name says.
  Content read(Published kind, const Entry& entry) const;
  // The only file with that number; nothing if there is none. Throws BadInput if there are several, because a repeated
  // unit should give the same result.
  std::optional<Content> read(Published kind, std::uint64_t number) const { return read(kind, list(kind, number)); }
  // The same for the entries that list() returned for a number.
  std::optional<Content> read(Published kind, const std::vector<Entry>& entries) const;

  // Removes temporary files older than an hour, which killed writers left. Returns their number.
  std::uint64_t remove_leftovers() const;

 private:
  explicit CampaignFolder(Folder folder) : folder_(std::move(folder)) {}

  Folder folder_;
  CampaignPlan plan_;
};

// The folder of the recording of case `index`, in the folder `cases`.
std::string case_folder(std::uint64_t index);

}  // namespace reweave
