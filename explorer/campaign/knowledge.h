// The knowledge that a campaign gains from its runs, shared by all searches: variables and their users, the length of
// runs, and conflicting accesses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "explorer/campaign/sharing.h"
#include "explorer/run/observation.h"
#include "explorer/run/run.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// Memory that threads share, identified by the code that touches it: array elements used by the same code are one
// variable, and so are heap blocks, whose addresses differ between runs.
struct Variable {
  std::vector<std::uint64_t> sites;      // sorted
  std::uint64_t accesses = 0;            // in the run with the most accesses
  std::vector<std::uint32_t> by_thread;  // in the same run
};

// All of the knowledge, in a form that can be stored.
struct KnowledgeRecord {
  struct CountedPair {
    std::uint64_t first, second, count;
  };
  std::uint64_t choices = 0;
  std::uint32_t threads = 0;
  bool saw_accesses = false;
  std::vector<std::uint64_t> seen;  // sorted
  std::vector<Variable> variables;
  std::vector<CountedPair> pairs;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> uses_of_released;
};

class Knowledge {
 public:
  // Adds a run that was observed.
  void learn(const Observation& run);

  // Adds the knowledge of another campaign: unites what both have seen, and takes the greater of two counts. So neither
  // repetition nor order matters.
  void add(const KnowledgeRecord& other);
  KnowledgeRecord record() const;

  // The number of ordered pairs of conflicting places learned since the last call.
  std::size_t take_news() {
    const std::size_t known = pairs_.size();
    return known - std::exchange(told_, known);
  }

  std::uint64_t choices() const { return choices_; }  // of the longest run
  std::uint32_t threads() const { return threads_; }
  bool saw_accesses() const { return saw_accesses_; }  // of memory, which only instrumented code shows
  const std::vector<Variable>& variables() const { return variables_; }
  // All sites that touched a shared object.
  std::vector<std::uint64_t> shared_sites() const;
  // The sites of plain accesses seen so far, except those that touched a shared object; with `but`, except these
  // instead. Null if runs are too short for this to pay.
  std::shared_ptr<const QuietSites> quiet_sites(const std::vector<std::uint64_t>* but = nullptr) const;
  // Conflicting accesses of two threads, in both orders, rare ones first.
  std::vector<ActivePair> pairs() const;
  // Releases of heap blocks, each with an earlier access to the block by another thread.
  std::vector<ActivePair> uses_of_released() const;

 private:
  void add(Variable variable);
  void learn_releases(const Observation& run, const SharedObject& object);
  void learn_pairs(const Observation& run, const SharedObject& object);

  bool saw_accesses_ = false;
  std::set<std::uint64_t> seen_;  // sites of plain accesses
  std::uint64_t choices_ = 0;
  std::uint32_t threads_ = 0;
  std::vector<Variable> variables_;
  std::map<std::vector<std::uint64_t>, std::size_t> known_;  // index in variables_
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> pairs_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> uses_of_released_;
  std::size_t told_ = 0;  // size of pairs_ at the last take_news()
};

}  // namespace reweave
