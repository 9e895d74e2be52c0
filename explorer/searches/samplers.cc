// The searches whose runs are independent draws: each run is one policy with a new seed. Some use the knowledge of
// earlier runs.
#include "explorer/searches/samplers.h"

#include <algorithm>
#include <cstring>

namespace reweave {

namespace {

// The knowledge changes little after the first runs, and observing costs time.
constexpr std::uint64_t kObservedRuns = 16;
constexpr std::uint64_t kObserveEach = 32;

class Sampler : public Search {
 public:
  Sampler(const SearchOptions& options, std::string policy) : options_(options), policy_(std::move(policy)) {}

  std::optional<RunRequest> next() override {
    RunRequest request;
    request.policy = policy_;
    request.seed = seed_of_run(options_.seed, made_);
    request.inputs = request.seed;
    request.depth = options_.depth;
    request.length = std::max<std::uint64_t>(options_.knowledge->choices(), 16);
    request.observe = made_ < kObservedRuns || made_ % kObserveEach == 0;
    Draws draws(request.seed);
    fill(request, draws);
    made_++;
    return request;
  }

 protected:
  // Lets only accesses at these sites be schedule points, unless the run is observed.
  void track_only(RunRequest& request, const std::vector<std::uint64_t>& sites) const {
    if (request.observe) return;
    request.quiet = options_.knowledge->quiet_sites(&sites);
    request.own_quiet = request.quiet != nullptr;
  }
  virtual void fill(RunRequest&, Draws&) {}
  const SearchOptions options_;

 private:
  std::string policy_;
  std::uint64_t made_ = 0;
};

// Draws a variable to track, each equally likely regardless of its use; null if none is known.
const Variable* draw_variable(const Knowledge& knowledge, Draws& draws) {
  const auto& variables = knowledge.variables();
  return variables.empty() ? nullptr : &variables[draws.below(variables.size())];
}

// pctvb (Bindal, Bansal, Lal, 2012): draws the variables first, then the change points among their accesses.
class Pctvb : public Sampler {
 public:
  using Sampler::Sampler;

 private:
  void fill(RunRequest& request, Draws& draws) override {
    const Knowledge& knowledge = *options_.knowledge;
    std::vector<std::uint64_t> sites;
    std::uint64_t accesses = 0;
    for (std::uint32_t i = 0; i < options_.variable_bound; i++)
      if (const Variable* variable = draw_variable(knowledge, draws)) {
        sites.insert(sites.end(), variable->sites.begin(), variable->sites.end());
        accesses += variable->accesses;
      }
    if (sites.empty()) accesses = request.length;
    std::vector<std::uint32_t> priorities(std::max<std::uint32_t>(knowledge.threads(), 1));
    for (std::size_t i = 0; i < priorities.size(); i++)
      priorities[i] = static_cast<std::uint32_t>(options_.depth + 1 + draws.below(1 << 24));
    std::vector<PriorityChange> changes;
    for (std::uint64_t i = 1; i < options_.depth; i++)
      changes.push_back({static_cast<std::uint32_t>(1 + draws.below(accesses)), static_cast<std::uint32_t>(i)});
    request.goal = site_goal(priorities, changes, sites);
    if (!sites.empty()) track_only(request, sites);
  }
};

class Surw : public Sampler {
 public:
  using Sampler::Sampler;

 private:
  void fill(RunRequest& request, Draws& draws) override {
    if (const Variable* variable = draw_variable(*options_.knowledge, draws)) {
      request.goal = site_goal(variable->by_thread, {}, variable->sites);
      track_only(request, variable->sites);
    }
  }
};

}  // namespace

std::vector<std::byte> site_goal(const std::vector<std::uint32_t>& threads, const std::vector<PriorityChange>& changes,
                                 std::vector<std::uint64_t> sites) {
  std::sort(sites.begin(), sites.end());
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  const SiteGoal header = {static_cast<std::uint32_t>(threads.size()), static_cast<std::uint32_t>(changes.size()),
                           static_cast<std::uint32_t>(sites.size()), 0};
  const std::size_t words = (threads.size() + 2 * changes.size() + 1) / 2 * 2;
  std::vector<std::byte> goal(sizeof header + words * 4 + sites.size() * 8);
  std::byte* at = goal.data();
  auto put = [&](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(at, from, bytes);
    at += bytes;
  };
  put(&header, sizeof header);
  put(threads.data(), threads.size() * 4);
  put(changes.data(), changes.size() * sizeof(PriorityChange));
  at = goal.data() + sizeof header + words * 4;
  put(sites.data(), sites.size() * 8);
  return goal;
}

std::unique_ptr<Search> make_native(const SearchOptions& options) {
  return std::make_unique<Sampler>(options, "native");
}
std::unique_ptr<Search> make_chaos(const SearchOptions& options) { return std::make_unique<Sampler>(options, "chaos"); }
std::unique_ptr<Search> make_random(const SearchOptions& options) {
  return std::make_unique<Sampler>(options, "random");
}
std::unique_ptr<Search> make_pct(const SearchOptions& options) { return std::make_unique<Sampler>(options, "pct"); }
std::unique_ptr<Search> make_pos(const SearchOptions& options) { return std::make_unique<Sampler>(options, "pos"); }
std::unique_ptr<Search> make_surw(const SearchOptions& options) { return std::make_unique<Surw>(options, "surw"); }
std::unique_ptr<Search> make_pctvb(const SearchOptions& options) {
  return std::make_unique<Pctvb>(options, "priorities");
}

}  // namespace reweave
