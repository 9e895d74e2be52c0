// A campaign: confirms predicted candidates, then searches, and keeps each distinct failure, minimised and verified.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/campaign/found_failure.h"
#include "explorer/campaign/knowledge.h"
#include "explorer/run/run.h"
#include "explorer/searches/given.h"
#include "explorer/searches/predicted.h"
#include "formats/trace/candidates.h"

namespace reweave {

struct CampaignOptions {
  std::string recording;
  std::string output;             // folder for the failures; created
  std::string fork_at;            // function of the program at whose first entry runs begin; empty: main
  std::string strategy = "auto";  // name of the search
  std::string learned;            // hapset: file that its sets are loaded from and saved to
  CandidateSet candidates;        // tried first
  std::uint64_t runs = 1000;      // number of runs of the search
  // Limit of the whole campaign; 0: none. Once a failure was found, the search leaves a part of the time for minimising
  // and replaying it.
  double seconds = 0;
  std::uint64_t seed = 1;
  std::uint64_t depth = 3;
  unsigned jobs = 1;                     // number of workers
  std::string expected;                  // endings that are normal (ExpectedEndings::parse); empty: the recorded run's
  std::string check;                     // command that judges the output of each run that passed; empty: none
  bool races = false;                    // a data race is a failure
  bool every_access = false;             // each access is a schedule point in each run
  std::vector<std::string> assumptions;  // they hold in each run (explorer/campaign/assumption.h)
  bool stop_at_first = false;
  bool all_frames = false;  // stacks of memory errors also show the functions of libraries
  // For a campaign that is one of several from the same recording (explorer/campaigns).
  std::string parent;                      // the recording that failures name as their origin; empty: `recording`
  const KnowledgeRecord* known = nullptr;  // what other campaigns have learned
  bool opens = true;                       // whether it predicts and makes the runs that are the same for every seed
  bool depends_on_time = true;             // false: it makes no predictions whose result may depend on time
  bool keeps = true;                       // false: it fills CampaignResult::found and suspects, and keeps nothing
  const std::vector<FoundFailure>* again = nullptr;  // runs to repeat in place of a search, named by FoundFailure::how
  // Also to repeat: runs of other campaigns that were suspected. They are kept if they leave the recording again.
  const std::vector<FoundFailure>* suspects_again = nullptr;
  const std::vector<RunRequest>* given = nullptr;  // additional runs, made before the search
  unsigned verifications = 20;
  std::uint64_t minimise_runs = 3000;  // at most, for each failure
};

struct CampaignProgress {
  std::uint64_t runs = 0;
  double seconds = 0;
  std::uint64_t failures = 0;  // number of different ends of failing runs
  std::uint64_t left_recording = 0;
  std::uint64_t not_kept = 0;  // lost runs, and runs that asked for something unsupported
  // Runs that failed in the same way as a repetition of the recorded order, although the recorded run had passed.
  std::uint64_t unfaithful = 0;
  std::uint64_t failed = 0;    // runs of the search and of candidates
  std::uint64_t not_held = 0;  // runs in which the assumptions were not feasible
  // Runs in which only chosen accesses were schedule points, the time that these runs took, and the time that the
  // others took.
  std::uint64_t quiet_runs = 0;
  double quiet_seconds = 0, full_seconds = 0;

  // Runs whose end says something about the program.
  std::uint64_t examined() const { return runs - left_recording - not_kept - unfaithful - not_held; }
};

// Reasons, each with the number of runs to which it applies.
using Reasons = std::vector<std::pair<std::string, std::uint64_t>>;

// A failure that was kept.
struct KeptFailure {
  std::string path;        // path of its recording
  std::string what;        // its outcome, for people
  std::uint64_t found_at;  // number of the run that found it, from 1
  std::uint64_t preemptions;
  std::uint64_t count = 1;             // runs that failed like this
  bool minimal = true;                 // the schedule was fully minimised before budget and time were used up
  unsigned replays = 0, verified = 0;  // replays made, and those that failed the same way
  std::string how;                     // how it was found: the strategy, or the candidate
  std::string cause;                   // shown by experiments (explorer/explain); may be empty
  std::string story;                   // the minimal schedule in plain words
  std::string ending;                  // what breaks, if the run does not report it itself
  std::string stacks;  // of a memory error (access, release and allocation), or a race's report; several lines
  // The functions in which it fails, and those of the two operations that come in the wrong order; empty: not known.
  std::string functions;
  std::string last_words;  // the run's own message about its failure (explorer/words/last_words.h); may be empty

  bool reproduced() const { return verified == replays; }
};

struct CampaignResult {
  CampaignProgress progress;
  std::vector<KeptFailure> failures;
  std::vector<KeptFailure> suspected;  // if there are no failures: runs that could not be followed (unfinished.h)
  std::vector<FoundFailure> found;     // instead of `failures`, if CampaignOptions::keeps is false
  std::vector<FoundFailure> suspects;  // likewise instead of `suspected`
  std::vector<GivenEnd> given;         // how the runs of CampaignOptions::given ended, as far as they were made
  std::vector<std::size_t> missed;     // indices in CampaignOptions::again of runs that did not fail again
  KnowledgeRecord knowledge;           // what was learned, with CampaignOptions::known
  std::vector<CandidateVerdict> verdicts;
  std::uint64_t minimising_runs = 0;  // made besides, to observe, minimise and explain failures
  // The reasons why runs could not be examined, the most frequent first: the requests with which runs left the
  // recording, and the reasons why others were not kept.
  Reasons left_for, not_kept_for;
  std::string expected;                   // endings taken as normal; empty if only exit status 0
  bool saw_accesses = false;              // memory accesses were schedule points
  bool out_of_time = false;               // the time limit ended the search
  bool gave_up = false;                   // none of the first runs could be examined
  bool one_schedule = false;              // the search had nothing to choose (one_schedule.h), and ended at once
  std::uint64_t looked_at_for_races = 0;  // runs checked for races
  bool races_unseen = false;              // races cannot be found, because the program's accesses are not seen
  std::string unfaithful_end;             // how unfaithful runs ended
  std::string report;                     // the search's report about itself; may be empty
  std::string prediction;                 // summary of the predictions during the search; empty: none were made
};

// Runs the campaign; `on_progress` is called after each run and returns false to stop (what was found is kept).
CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<bool(const CampaignProgress&)>& on_progress);

}  // namespace reweave
