// The combined results of a campaign's units.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "explorer/campaign/campaign.h"
#include "explorer/campaigns/campaign_folder.h"
#include "explorer/campaigns/unit_result.h"

namespace reweave {

// The combined results of one case's units.
struct CaseFindings {
  std::uint64_t units = 0, done = 0, partial = 0;
  std::uint64_t runs = 0, examined = 0;
  bool saw_accesses = false;
  std::uint64_t gave_up = 0;           // units that gave up because no run could be examined
  std::string problem, left_for;       // why the case could not be searched; why runs could not be examined
  std::vector<FoundFailure> failures;  // those to examine; FoundFailure::how names the unit
  std::vector<FoundFailure> suspects;  // runs that may fail and could not be followed, one for each way of leaving
  std::uint64_t left_out = 0;          // failing runs not examined, because there were too many different ends
  double wall = 0, cpu = 0;            // seconds, sums over the finished units
};

struct MergedCase {
  std::string name;
  CaseFindings findings;
  std::vector<KeptFailure> failures;   // their paths are relative to the output folder
  std::vector<KeptFailure> suspected;  // if there are no failures; likewise
  std::vector<std::string> not_again;  // failures that did not fail again: how they were found, and how they ended
};

// One bug, found in one or more cases.
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
  bool suspects() const;  // true if a case has suspected runs
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

// Collects a case's results. Keeps the first few of the runs that ended alike and counts the others, like a campaign of
// one process.
CaseFindings collect(const CampaignFolder& campaign, const ResultNames& names, std::uint64_t case_index);
// Collects all cases, repeats their failing runs, keeps one recording of each bug below `output`, an existing folder,
// and replays it.
Merged merge(const CampaignFolder& campaign, const std::string& output, const MergeOptions& options);

}  // namespace reweave
