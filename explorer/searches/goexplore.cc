// goexplore: first return, then explore (Go-Explore; Ecoffet, Huizinga, Lehman, Stanley, Clune, Nature 2021). Remembers
// states of runs as cells (cells.h), returns to a rarely seen one by repeating the choices that led there, and
// continues by partial order sampling. A bug that needs many rare steps in a row is thus reached step by step, while a
// sampler that starts each run afresh must draw all of them at once.
//
// Departures from the paper: a state is identified by its pending operations, as in Q-learning-based concurrency
// testing (Mukherjee, Deligiannis, Biswas, Lal, OOPSLA 2020); the return is exact, since runs repeat; cells have no
// score.
#include <deque>

#include "explorer/searches/cells.h"
#include "explorer/searches/prefix_goal.h"
#include "explorer/searches/samplers.h"

namespace reweave {

namespace {

constexpr std::uint64_t kFreshEach = 10;  // one of this many runs starts afresh

class GoExplore : public Search {
 public:
  explicit GoExplore(const SearchOptions& options) : options_(options), draws_(options.seed) {}

  std::optional<RunRequest> next() override {
    // The first run shows which sites are schedule points.
    if (made_ > 0 && learned_ == 0) return {};
    std::optional<std::size_t> cell;
    if (!cells_.empty() && made_ % kFreshEach != 0)
      cell = cells_.choose([this](std::uint64_t bound) { return draws_.below(bound); });
    RunRequest request = prefix_request(cell ? cells_.way_to(*cell) : std::vector<ThreadId>{});
    request.policy = "branch";
    request.seed = seed_of_run(options_.seed, made_);
    request.quiet = quiet_;
    request.own_quiet = made_ > 0;
    returned_to_.push_back(cell);
    made_++;
    return request;
  }

  void learn(const RunRequest& request, const RunResult& result) override {
    // Choices have the same numbers only while the same sites are schedule points.
    if (learned_++ == 0) quiet_ = request.quiet;
    const std::optional<std::size_t> cell = returned_to_.front();
    returned_to_.pop_front();
    if (cells_.learn(result.observed) && cell) cells_.forget_return(*cell);
  }

  std::string report() const override {
    return std::to_string(cells_.size()) + " sets of pending operations were seen";
  }

 private:
  const SearchOptions options_;
  Draws draws_;
  CellMap cells_;
  std::shared_ptr<const QuietSites> quiet_;
  std::uint64_t made_ = 0, learned_ = 0;
  std::deque<std::optional<std::size_t>> returned_to_;  // for each run requested
};

}  // namespace

std::unique_ptr<Search> make_goexplore(const SearchOptions& options) { return std::make_unique<GoExplore>(options); }

}  // namespace reweave
