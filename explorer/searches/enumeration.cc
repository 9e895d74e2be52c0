// dfs and pcb: every schedule, depth first; or those with the fewest preemptions first (iterative context bounding:
// Musuvathi, Qadeer, PLDI 2007). No reduction; the other searches are measured against these.
//
// A run shows all choices after its prefix; each alternative to one of them makes a new prefix.
#include <deque>
#include <map>

#include "explorer/searches/prefix_goal.h"
#include "explorer/searches/search.h"

namespace reweave {

namespace {

constexpr std::size_t kMostWaitingSchedules = 4'000'000;

// A run to make: the first `length` choices of `base`, then `last`.
struct Branch {
  std::shared_ptr<const std::vector<ThreadId>> base;
  std::size_t length;
  ThreadId last;
  std::uint32_t preemptions;
};

class Enumeration : public Search {
 public:
  explicit Enumeration(bool by_preemptions) : by_preemptions_(by_preemptions) {
    waiting_[0].push_back({std::make_shared<std::vector<ThreadId>>(), 0, 0, 0});
  }

  std::optional<RunRequest> next() override {
    while (!waiting_.empty() && waiting_.begin()->second.empty()) waiting_.erase(waiting_.begin());
    if (waiting_.empty()) return {};
    std::deque<Branch>& level = waiting_.begin()->second;
    // dfs takes the latest branch; pcb takes the branches of a level in the order of discovery.
    const Branch branch = by_preemptions_ ? level.front() : level.back();
    by_preemptions_ ? level.pop_front() : level.pop_back();
    count_--;
    std::vector<ThreadId> choices(branch.base->begin(),
                                  branch.base->begin() + static_cast<std::ptrdiff_t>(branch.length));
    if (first_made_) choices.push_back(branch.last);
    first_made_ = true;
    asked_.push_back({choices.size(), branch.preemptions});
    RunRequest request = prefix_request(choices);
    request.quiet = quiet_;
    request.own_quiet = learned_;
    return request;
  }

  void learn(const RunRequest& request, const RunResult& result) override {
    // Choices have the same numbers only while the same sites are schedule points.
    if (!learned_) quiet_ = request.quiet;
    learned_ = true;
    const Asked asked = asked_.front();
    asked_.pop_front();
    const Observation& run = result.observed;
    auto choices = std::make_shared<std::vector<ThreadId>>();
    for (std::size_t i = 0; i < run.size(); i++) choices->push_back(run[i].thread);
    std::uint32_t preemptions = asked.preemptions;
    for (std::size_t i = asked.length; i < run.size(); i++) {
      for (const ThreadId other : run.enabled(i)) {
        if (other == run[i].thread || count_ >= kMostWaitingSchedules) continue;
        const bool preempts = run[i].flags == kFromEnabled && other != run[i].from;
        const std::uint32_t total = preemptions + (preempts ? 1 : 0);
        waiting_[by_preemptions_ ? total : 0].push_back({choices, i, other, total});
        count_++;
      }
      preemptions += run.preempted(i) ? 1 : 0;
    }
  }

  bool complete() const override { return count_ == 0 && asked_.empty() && first_made_; }
  std::string report() const override { return complete() ? "every schedule was tried" : ""; }

 private:
  struct Asked {
    std::size_t length;
    std::uint32_t preemptions;
  };
  bool by_preemptions_;
  bool first_made_ = false, learned_ = false;
  std::shared_ptr<const QuietSites> quiet_;
  std::size_t count_ = 1;
  std::map<std::uint32_t, std::deque<Branch>> waiting_;  // by preemptions; all at 0 for dfs
  std::deque<Asked> asked_;
};

}  // namespace

std::unique_ptr<Search> make_dfs(const SearchOptions&) { return std::make_unique<Enumeration>(false); }
std::unique_ptr<Search> make_pcb(const SearchOptions&) { return std::make_unique<Enumeration>(true); }

}  // namespace reweave
