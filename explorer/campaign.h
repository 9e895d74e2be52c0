// A campaign: confirms predicted candidates, then searches, and keeps each distinct failure, minimised and verified.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/run.h"
#include "formats/candidates.h"

namespace reweave {

struct CampaignOptions {
  std::string recording;
  std::string output;             // folder for the failures; created
  std::string fork_at;            // function of the program at whose first entry runs begin; empty: main
  std::string strategy = "auto";  // of the search
  std::string learned;            // hapset: file that its sets are loaded from and saved to
  CandidateSet candidates;        // tried first
  std::uint64_t runs = 1000;      // of the search
  double seconds = 0;             // limit of the whole campaign; 0: none
  std::uint64_t seed = 1;
  std::uint64_t depth = 3;
  unsigned jobs = 1;          // workers
  std::string check;          // command that judges the output of each run that passed; empty: none
  bool every_access = false;  // each access is a schedule point in each run
  bool stop_at_first = false;
  unsigned verifications = 20;
  std::uint64_t minimise_runs = 3000;  // at most, for each failure
};

struct CampaignProgress {
  std::uint64_t runs = 0;
  double seconds = 0;
  std::uint64_t failures = 0;  // that end differently
  std::uint64_t left_recording = 0;
  // Runs that failed as the recorded order does when it is repeated, though the recorded run had passed.
  std::uint64_t unfaithful = 0;
  // Runs in which only chosen accesses were schedule points, and the time that these and the others took.
  std::uint64_t quiet_runs = 0;
  double quiet_seconds = 0, full_seconds = 0;
};

// A failure that was kept.
struct KeptFailure {
  std::string path;        // of its recording
  std::string what;        // its outcome for people
  std::uint64_t found_at;  // number of the run, from 1
  std::uint64_t preemptions;
  unsigned verified;       // replays that failed the same way
  std::string how;         // strategy, or the candidate
  std::string story;       // the minimal schedule in plain words
  std::string stacks;      // of a memory error: of the access, the release and the allocation, several lines
  std::string last_words;  // the last line that the run wrote: an assertion's text, an exception's; may be empty
};

// What became of a candidate.
struct CandidateVerdict {
  std::size_t index;    // in the candidate list
  bool followed;        // the witness, or another linearization of it, was executed to its end
  std::string how;      // which, or where and why not
  std::string outcome;  // of the run
  bool failed;
};

struct CampaignResult {
  CampaignProgress progress;
  std::vector<KeptFailure> failures;
  std::vector<CandidateVerdict> verdicts;
  std::uint64_t minimising_runs = 0;  // made besides
  // What runs that left the recording asked for, and how many did, the most frequent first.
  std::vector<std::pair<std::string, std::uint64_t>> left_for;
  std::string unfaithful_end;  // how unfaithful runs ended
  std::string report;          // what the search says of itself; may be empty
};

// Runs the campaign; `on_progress` is called after each run and returns false to stop (what was found is kept).
CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<bool(const CampaignProgress&)>& on_progress);

}  // namespace reweave
