// The search `ranked` (RankChecker; Bindal, Bansal, Lal, 2012). It tries schedules with few preemptions first. All
// preemptions are at accesses of few variables, and only the order of few threads is varied.
//
// For each set of `variable_bound` variables and for c = 0, 1, ..., it tries every choice of c preemptions among the
// tracked accesses. Each choice gets as many random permutations of the thread fragments' priorities as are needed to
// see each order of every `thread_bound` fragments with probability 1 - p (Lemma 4.1). A happens-before order of the
// tracked accesses that was seen before is not extended. Variables are identified by the code that touches them; in
// loops, earlier preemption points are tried first.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "explorer/searches/ranked.h"
#include "explorer/searches/samplers.h"

namespace reweave {

namespace {

class Ranked : public Search {
 public:
  explicit Ranked(const SearchOptions& options) : options_(options), draws_(options.seed) {}

  std::optional<RunRequest> next() override {
    if (!profile_asked_) {
      profile_asked_ = true;
      return profile();
    }
    if (waiting_ > 0 && pending_.empty()) return {};
    while (pending_.empty())
      if (waiting_ > 0 || !next_level()) return {};
    const Job job = pending_.front();
    pending_.pop_front();
    asked_.push_back(job);
    waiting_++;
    return request_for(job);
  }

  void learn(const RunRequest&, const RunResult& result) override {
    if (!profile_known_) {
      profile_known_ = true;
      choose_sets();
      return;
    }
    waiting_--;
    const Job job = asked_.front();
    asked_.pop_front();
    const std::uint64_t order = order_of(result.observed, job.set);
    if (!seen_.insert({job.set, order}).second && !job.changes.empty()) return;
    extend(job, result.observed);
  }

  bool complete() const override { return profile_known_ && finished_; }
  std::string report() const override {
    return "variable bound " + std::to_string(options_.variable_bound) + ", thread bound " +
           std::to_string(options_.thread_bound) + ", preemptions up to " + std::to_string(level_) + ", " +
           std::to_string(permutations(fragments())) + " permutations each (Lemma 4.1), " +
           std::to_string(sets_.size()) + " sets of variables" + (finished_ ? "; all were tried" : "");
  }

 private:
  struct Job {
    std::size_t set;                     // of variables
    std::vector<std::uint32_t> changes;  // tracked points at which the running thread is preempted
    std::vector<std::uint32_t> ranks;    // permutation of the fragments' priorities: threads, then one per change
  };

  static RunRequest profile() {
    RunRequest request;
    request.policy = "schedule";
    request.observe = true;
    return request;
  }

  std::uint32_t fragments() const { return options_.knowledge->threads() + level_; }
  std::uint64_t permutations(std::uint32_t n) const {
    return permutations_needed(n, options_.thread_bound, options_.miss_probability);
  }

  void choose_sets() {
    const auto& variables = options_.knowledge->variables();
    std::vector<std::size_t> order(variables.size());
    for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return variables[a].accesses < variables[b].accesses; });
    for (const std::size_t v : order) sets_.push_back({v});
    if (options_.variable_bound > 1)
      for (std::size_t a = 0; a < order.size(); a++)
        for (std::size_t b = a + 1; b < order.size(); b++) sets_.push_back({order[a], order[b]});
    if (sets_.empty()) sets_.push_back({});
  }

  // Queues all jobs with one more preemption.
  bool next_level() {
    if (finished_ || !profile_known_) return false;
    if (!begun_) {
      begun_ = true;
      for (std::size_t set = 0; set < sets_.size(); set++) add(set, {});
      return !pending_.empty();
    }
    level_++;
    std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> grown = std::move(grown_);
    grown_.clear();
    if (grown.empty() || level_ > options_.preemption_bound + 2) finished_ = true;
    if (finished_) return false;
    std::sort(grown.begin(), grown.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (const auto& [set, changes] : grown) add(set, changes);
    return !pending_.empty();
  }

  void add(std::size_t set, const std::vector<std::uint32_t>& changes) {
    const std::uint32_t n = options_.knowledge->threads() + static_cast<std::uint32_t>(changes.size());
    for (std::uint64_t i = permutations(n); i > 0; i--) {
      Job job = {set, changes, std::vector<std::uint32_t>(n)};
      for (std::uint32_t k = 0; k < n; k++) job.ranks[k] = k + 1;
      for (std::uint32_t k = n; k > 1; k--) std::swap(job.ranks[k - 1], job.ranks[draws_.below(k)]);
      pending_.push_back(std::move(job));
    }
  }

  void extend(const Job& job, const Observation& run) {
    std::uint32_t tracked = 0;
    const std::vector<std::uint64_t> sites = sites_of(job.set);
    for (std::size_t i = 0; i < run.size(); i++)
      if (!run.resumed(i) && (sites.empty() || std::binary_search(sites.begin(), sites.end(), run[i].pc))) tracked++;
    const std::uint32_t first = job.changes.empty() ? 1 : job.changes.back() + 1;
    for (std::uint32_t at = first; at <= tracked; at++) {
      std::vector<std::uint32_t> changes = job.changes;
      changes.push_back(at);
      grown_.push_back({job.set, std::move(changes)});
    }
  }

  std::vector<std::uint64_t> sites_of(std::size_t set) const {
    std::vector<std::uint64_t> sites;
    for (const std::size_t v : sets_[set]) {
      const auto& of_variable = options_.knowledge->variables()[v].sites;
      sites.insert(sites.end(), of_variable.begin(), of_variable.end());
    }
    std::sort(sites.begin(), sites.end());
    return sites;
  }

  // Hash of the order of conflicting tracked accesses and of synchronisation.
  std::uint64_t order_of(const Observation& run, std::size_t set) const {
    const std::vector<std::uint64_t> sites = sites_of(set);
    std::map<std::uint64_t, std::uint64_t> objects;
    for (std::size_t i = 0; i < run.size(); i++) {
      const bool tracked =
          is_sync(run[i]) || sites.empty() || std::binary_search(sites.begin(), sites.end(), run[i].pc);
      if (!tracked || run[i].object == 0) continue;
      std::uint64_t& hash = objects[run[i].object];
      hash = (hash ^ (std::uint64_t{run[i].thread} << 32 | run[i].tick)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    std::uint64_t all = 0;
    for (const auto& [object, hash] : objects) all = (all ^ object ^ hash) * 0xbf58476d1ce4e5b9 + 1;
    return all;
  }

  RunRequest request_for(const Job& job) {
    RunRequest request;
    request.policy = "priorities";
    request.seed = options_.seed;
    request.observe = true;
    const std::size_t threads = job.ranks.size() - job.changes.size();
    std::vector<PriorityChange> changes;
    for (std::size_t i = 0; i < job.changes.size(); i++) changes.push_back({job.changes[i], job.ranks[threads + i]});
    const std::vector<std::uint64_t> sites = sites_of(job.set);
    if (!sites.empty()) request.quiet = quiet_of(job.set, sites);
    request.own_quiet = request.quiet != nullptr;
    request.goal =
        site_goal({job.ranks.begin(), job.ranks.begin() + static_cast<std::ptrdiff_t>(threads)}, changes, sites);
    return request;
  }

  // Returns the same object for all runs of a set.
  std::shared_ptr<const QuietSites> quiet_of(std::size_t set, const std::vector<std::uint64_t>& sites) {
    const auto [at, added] = quiet_.try_emplace(set);
    if (added) at->second = options_.knowledge->quiet_sites(&sites);
    return at->second;
  }

  const SearchOptions options_;
  Draws draws_;
  bool profile_asked_ = false, profile_known_ = false, begun_ = false, finished_ = false;
  std::uint32_t level_ = 0;
  std::vector<std::vector<std::size_t>> sets_;
  std::deque<Job> pending_, asked_;
  std::size_t waiting_ = 0;
  std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> grown_;
  std::set<std::pair<std::size_t, std::uint64_t>> seen_;
  std::map<std::size_t, std::shared_ptr<const QuietSites>> quiet_;
};

}  // namespace

std::uint64_t permutations_needed(std::uint32_t fragments, std::uint32_t bound, double miss_probability) {
  const double t = std::min(bound, fragments);
  double factorial = 1;
  for (double i = 2; i <= t; i++) factorial *= i;
  const double needed =
      factorial * (t * std::log(static_cast<double>(std::max(fragments, 2u))) + std::log(1 / miss_probability));
  return static_cast<std::uint64_t>(std::ceil(needed));
}

std::unique_ptr<Search> make_ranked(const SearchOptions& options) { return std::make_unique<Ranked>(options); }

}  // namespace reweave
