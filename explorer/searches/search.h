// Search: decides which run to make next, based on the earlier runs.
//
// To add a search, add a file with its factory to this folder, its lines to all.cc, and the file to
// explorer/meson.build. A search does no I/O and uses no clock; all its randomness comes from SearchOptions::seed, so
// that the same seed gives the same runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign/candidate_feed.h"
#include "explorer/campaign/knowledge.h"
#include "explorer/run/run.h"
#include "explorer/strategies/goals.h"
#include "explorer/words/places.h"
#include "recorder/splitmix.h"

namespace reweave {

// The seed of a campaign's run number `run`: campaigns with different seeds share no runs.
inline std::uint64_t seed_of_run(std::uint64_t campaign, std::uint64_t run) {
  return splitmix(splitmix(campaign) + run);
}

struct SearchOptions {
  std::uint64_t seed = 1;
  std::uint64_t depth = 3;
  std::uint32_t variable_bound = 1;
  std::uint32_t thread_bound = 2;
  std::uint32_t preemption_bound = 2;
  double miss_probability = 0.1;         // ranked: probability that an order of threads was not seen
  const Knowledge* knowledge = nullptr;  // never null in a search
  CandidateFeed* feed = nullptr;         // predicted candidates; null: there are none
  Places* places = nullptr;              // names where a run departed from a witness; not null if there is a feed
  bool opened = false;                   // auto: another campaign makes the runs that are the same for every seed
  std::string learned;                   // hapset: file to load and save; empty: none
};

class Search {
 public:
  virtual ~Search() = default;
  // The next run to make. None: the search is complete, or waits for the runs that it requested.
  virtual std::optional<RunRequest> next() = 0;
  // Takes the result of a run, in the order of the requests. The run was observed if the request asked for it.
  virtual void learn(const RunRequest&, const RunResult&) {}
  // True if next() will return no more runs.
  virtual bool complete() const { return false; }
  // A line about the search for the end of the campaign; empty: none.
  virtual std::string report() const { return ""; }
};

struct SearchRow {
  const char* name;
  const char* help;  // one line
  bool draws;        // its runs depend on the seed
  std::unique_ptr<Search> (*make)(const SearchOptions&);
};

const std::vector<SearchRow>& all_searches();
// Null if there is none of that name.
const SearchRow* find_search(const std::string& name);

}  // namespace reweave
