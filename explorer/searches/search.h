// Search: decides which run to make next, from what earlier runs did.
//
// To add one: a file in this folder with a factory, its line in all.cc and in explorer/meson.build. A search does no
// I/O and knows no clock; all its randomness comes from SearchOptions::seed, so that the same seed gives the same runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/candidate_feed.h"
#include "explorer/knowledge.h"
#include "explorer/places.h"
#include "explorer/run.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// The seed of a campaign's run number `run`: campaigns with other seeds share no runs (splitmix64, twice).
inline std::uint64_t seed_of_run(std::uint64_t campaign, std::uint64_t run) {
  auto mixed = [](std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  };
  return mixed(mixed(campaign) + run);
}

struct SearchOptions {
  std::uint64_t seed = 1;
  std::uint64_t depth = 3;
  std::uint32_t variable_bound = 1;
  std::uint32_t thread_bound = 2;
  std::uint32_t preemption_bound = 2;
  double miss_probability = 0.1;         // ranked: that an order of threads was not seen
  const Knowledge* knowledge = nullptr;  // never null in a search
  CandidateFeed* feed = nullptr;         // of predicted candidates; null: there are none
  Places* places = nullptr;              // to tell where a run left a witness; not null if there is a feed
  std::string learned;                   // hapset: file to load and save; empty: none
};

class Search {
 public:
  virtual ~Search() = default;
  // The next run to make. Nothing: the search is complete, or waits for the runs that it has asked for.
  virtual std::optional<RunRequest> next() = 0;
  // What came of a run; in the order in which next() asked for them. The run was observed if the request said so.
  virtual void learn(const RunRequest&, const RunResult&) {}
  // Nothing will come any more.
  virtual bool complete() const { return false; }
  // What it has to say of itself when the campaign is over; empty: nothing.
  virtual std::string report() const { return ""; }
};

struct SearchRow {
  const char* name;
  const char* help;  // one line
  std::unique_ptr<Search> (*make)(const SearchOptions&);
};

const std::vector<SearchRow>& all_searches();
// Null if there is none of that name.
const SearchRow* find_search(const std::string& name);

}  // namespace reweave
