// What the units of a campaign have found, all of it together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/campaigns/campaign_folder.h"
#include "explorer/campaigns/unit_result.h"

namespace reweave {

// What the units say of one case.
struct CaseFindings {
  std::uint64_t units = 0, done = 0, partial = 0;
  std::uint64_t runs = 0, examined = 0;
  bool saw_accesses = false;
  std::uint64_t gave_up = 0;           // units of which no run could be examined
  std::string problem, left_for;       // why it could not be searched, or why runs could not be examined; the first
  std::vector<FoundFailure> failures;  // those to look at; how they were found names the unit
  std::uint64_t left_out = 0;          // failing runs that ended in yet another way than the most that are looked at
  double wall = 0, cpu = 0;            // of the units
};

struct MergedCase {
  std::string name;
  CaseFindings findings;
  std::vector<KeptFailure> failures;   // their paths are those in the output folder
  std::vector<std::string> not_again;  // how failures ended that did not fail again, each with what had found it
};

// The same bug, in one case or in several.
struct MergedCause {
  std::string what, functions;
  std::uint64_t runs = 0;
  struct Place {
    std::size_t case_index, failure;
  };
  std::vector<Place> places;
};

struct Merged {
  std::vector<MergedCase> cases;
  std::vector<MergedCause> causes;  // of failures that replay, the most frequent first
  int interrupted = 0;

  std::uint64_t missing() const;  // units
  bool is_examined() const;
};

struct MergeOptions {
  unsigned jobs = 1;
  unsigned verifications = 20;
  std::uint64_t minimise_runs = 3000;
};

// The names of all results, by unit.
struct ResultNames {
  explicit ResultNames(const CampaignFolder& campaign);
  std::map<std::uint64_t, std::vector<CampaignFolder::Entry>> units, partial;
};

// Of runs that ended alike the first few are kept, and how many there were: as a campaign of one process does.
CaseFindings collect(const CampaignFolder& campaign, const ResultNames& names, std::uint64_t case_index);
// Collects all cases, makes their failing runs again, keeps one of each bug as a recording below `output`, an existing
// folder, and replays it.
Merged merge(const CampaignFolder& campaign, const std::string& output, const MergeOptions& options);

}  // namespace reweave
