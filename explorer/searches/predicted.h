// predicted: follows the witnesses of predicted candidates, best first.
//
// If a run departs from its candidate's witness and passes, another linearization of the witness is tried. Then threads
// are stopped at the candidate's places, in both orders (policy `active`).
#pragma once

#include <deque>
#include <set>

#include "explorer/campaign/candidate_feed.h"
#include "explorer/campaign/witness.h"
#include "explorer/searches/search.h"

namespace reweave {

// The result for a candidate.
struct CandidateVerdict {
  std::size_t number;  // of the candidate, from 1, over all sets
  CandidateKind kind;
  bool followed;        // the witness, or another linearization of it, was executed to its end
  std::string how;      // which order was followed, or where and why the run departed
  std::string outcome;  // of the run
  bool failed;
  bool left = false;  // the run left the recording, so how it would have ended is not known
};

class Predicted : public Search {
 public:
  // `options` must have a feed and places.
  explicit Predicted(const SearchOptions& options) : options_(options) {}

  std::optional<RunRequest> next() override;
  void learn(const RunRequest& request, const RunResult& result) override;
  // True if its next run is likely to fail: its candidate is worth reading (worth_reading()), or none has arrived yet.
  bool is_urgent() const;
  bool complete() const override { return fresh_.empty() && retries_.empty() && pairs_.empty(); }
  std::string report() const override;

  // The verdicts so far, in the order in which they were reached.
  const std::vector<CandidateVerdict>& verdicts() const { return verdicts_; }

 private:
  // A candidate being tried.
  struct Trial {
    std::size_t number;
    Candidate candidate;
    std::vector<WitnessOrder> orders;
    std::size_t at = 0;              // the order being tried
    std::vector<WitnessTurn> turns;  // of that order
    std::string how;                 // how the first order ended
  };
  enum class Asked { kWitness, kPair };

  void take_more();
  std::optional<RunRequest> follow(Trial trial);
  RunRequest ask_pair();
  void judge(Trial trial, const RunResult& result);
  void give_up(const Trial& trial, const char* why);
  void add_pairs(const Candidate& candidate);

  const SearchOptions options_;
  std::size_t taken_ = 0;
  std::deque<Trial> fresh_, retries_, under_way_;
  std::deque<Asked> asked_;
  std::deque<ActivePair> pairs_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_pairs_;
  std::uint64_t pairs_made_ = 0;
  std::vector<CandidateVerdict> verdicts_;
};

}  // namespace reweave
