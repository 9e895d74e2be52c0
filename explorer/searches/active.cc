// active: tests suspicious places, the most suspicious first (after ColFinder; Wu, Lu, Wang, Zhou, 2014).
//
// The first runs keep threads from using memory that others release, as long as anything else can run: memory released
// anywhere, then memory released at one place. The next two runs test all conflicting pairs at once: threads stop
// before any of them until two meet (policy `active`). Then each run tests one suspicion
// (explorer/campaign/suspicions.h): it stops one thread at one place in favour of another. The last runs test each pair
// by itself, in both orders. The wait is logical; nothing depends on time.
#include <set>

#include <cstring>

#include "explorer/campaign/suspicions.h"
#include "explorer/searches/active.h"

namespace reweave {

namespace {

constexpr std::size_t kMostPairsAtOnce = 256;

class Active : public Search {
 public:
  explicit Active(const SearchOptions& options) : options_(options) {}

  std::optional<RunRequest> next() override {
    if (!base_asked_) {
      base_asked_ = true;
      return undisturbed();
    }
    if (!base_known_) return {};
    if (const auto releases = late_uses()) return releases;
    if (const auto all = all_pairs()) return all;
    if (next_suspicion_ < suspicions_.size()) {
      RunRequest request = request_of(suspicions_[next_suspicion_++].schedule);
      request.observe = next_suspicion_ % 4 == 1;
      return request;
    }
    return single_pair();
  }

  void learn(const RunRequest&, const RunResult& result) override {
    if (base_known_) return;
    base_known_ = true;
    suspicions_ = suspicions_of(result.observed);
  }

  bool complete() const override {
    return base_known_ && next_suspicion_ >= suspicions_.size() && next_pair_ >= options_.knowledge->pairs().size();
  }
  std::string report() const override {
    return std::to_string(suspicions_.size()) + " suspicious places, " + std::to_string(next_suspicion_) + " tested";
  }

 private:
  static RunRequest undisturbed() {
    RunRequest request = request_of({});
    request.observe = true;
    return request;
  }

  RunRequest request_for(const std::vector<ActivePair>& pairs) {
    RunRequest request;
    request.policy = "active";
    request.seed = seed_of_run(options_.seed, made_++);
    request.depth = 1 + made_ % 3;
    request.goal.resize(pairs.size() * sizeof(ActivePair));
    if (!pairs.empty()) std::memcpy(request.goal.data(), pairs.data(), request.goal.size());
    request.observe = true;
    return request;
  }

  std::optional<RunRequest> all_pairs() {
    std::vector<ActivePair> pairs = options_.knowledge->pairs();
    if (pairs.empty() || all_made_ >= 2) return {};
    all_made_++;
    if (pairs.size() > kMostPairsAtOnce) pairs.resize(kMostPairsAtOnce);
    return request_for(pairs);
  }

  std::optional<RunRequest> late_uses() {
    const std::vector<ActivePair> all = options_.knowledge->uses_of_released();
    std::set<std::uint64_t> places;
    for (const ActivePair& pair : all) places.insert(pair.first);
    // Adds 0, which means all places at once, unless there is only one place.
    if (places.size() > 1) places.insert(0);
    for (const std::uint64_t oldest_first : {0, 1})
      for (const std::uint64_t place : places) {
        if (!released_.insert({place, oldest_first}).second) continue;
        std::vector<ActivePair> pairs;
        for (const ActivePair& pair : all)
          if ((place == 0 || pair.first == place) && pairs.size() < kMostPairsAtOnce) pairs.push_back(pair);
        RunRequest request = request_for(pairs);
        request.depth = kSecondLast;
        request.seed = oldest_first;
        return request;
      }
    return {};
  }

  std::optional<RunRequest> single_pair() {
    const std::vector<ActivePair> pairs = options_.knowledge->pairs();
    if (next_pair_ >= pairs.size()) return {};
    return request_for({pairs[next_pair_++]});
  }

  const SearchOptions options_;
  bool base_asked_ = false, base_known_ = false;
  std::vector<Suspicion> suspicions_;
  std::size_t next_suspicion_ = 0, next_pair_ = 0;
  unsigned all_made_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> released_;  // tested places of releases, each with `oldest_first`
  std::uint64_t made_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_active(const SearchOptions& options) { return std::make_unique<Active>(options); }

}  // namespace reweave
