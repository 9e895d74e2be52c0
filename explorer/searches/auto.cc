// auto: runs that stop threads in the middle of what they do, then the active tester in turns with several searches
// that share what the runs show. The default.
//
// The opening needs to know nothing of the program and finds most of what is shallow (scripts/bench bugs shows what
// each search finds); it is the same for every seed. The turns are weighted by what finds bugs soonest.
#include <deque>
#include <iterator>

#include "explorer/searches/active.h"

namespace reweave {

namespace {

// Variants of the policy `wedge`, in the order of how many programs they break that those before them do not.
constexpr std::uint64_t kOpening[] = {5, 6 | 16, 9, 4 | 16};
// The active tester has every other turn at first, then every fourth: what it thinks of later is less suspicious.
constexpr std::uint64_t kActiveShare = 2, kLaterActiveShare = 4, kActiveFirst = 32;
// The order of turns; each is used over and over.
constexpr const char* kTurns[] = {"pctvb", "dpor",  "pctvb",  "pos",   "pctvb", "surw",  "pctvb",     "dpor",  "pctvb",
                                  "pct",   "pctvb", "random", "pctvb", "dpor",  "pctvb", "goexplore", "hapset"};
// Whatever is so rare that it was not found by then wants many rare steps in a row: most runs go on from where earlier
// ones came to.
constexpr std::uint64_t kPatience = 1'000, kOthersShare = 8;

class Auto : public Search {
 public:
  explicit Auto(const SearchOptions& options) : active_(make_active(options)) {
    for (const char* name : kTurns) {
      Turn turn = {name, nullptr};
      for (const Turn& other : turns_)
        if (other.name == turn.name) turn.search = other.search;
      if (turn.search == nullptr) turn.search = find_search(name)->make(options);
      if (turn.name == "goexplore") deep_ = turn.search.get();
      turns_.push_back(turn);
    }
  }

  std::optional<RunRequest> next() override {
    if (opened_ < std::size(kOpening)) return opening();
    const std::uint64_t made = made_++;
    if (made % (made < kActiveFirst ? kActiveShare : kLaterActiveShare) == 0 && !active_->complete())
      if (auto request = active_->next()) {
        asked_.push_back(active_.get());
        return request;
      }
    if (made > kPatience && made % kOthersShare != 0)
      if (auto request = deep_->next()) {
        asked_.push_back(deep_);
        return request;
      }
    for (std::size_t tries = 0; tries < turns_.size(); tries++) {
      Search& search = *turns_[turn_++ % turns_.size()].search;
      if (auto request = search.next()) {
        asked_.push_back(&search);
        return request;
      }
    }
    return {};
  }

  void learn(const RunRequest& request, const RunResult& result) override {
    Search* search = asked_.front();
    asked_.pop_front();
    if (search != nullptr) search->learn(request, result);
  }

 private:
  RunRequest opening() {
    RunRequest request;
    request.policy = "wedge";
    request.depth = kOpening[opened_++];
    request.observe = true;
    asked_.push_back(nullptr);
    return request;
  }

  struct Turn {
    std::string name;
    std::shared_ptr<Search> search;
  };
  std::unique_ptr<Search> active_;
  std::vector<Turn> turns_;
  Search* deep_ = nullptr;  // of turns_: what is left to when patience ends
  std::size_t turn_ = 0;
  std::size_t opened_ = 0;
  std::uint64_t made_ = 0;
  std::deque<Search*> asked_;  // whose run it is; null: the opening's
};

}  // namespace

std::unique_ptr<Search> make_auto(const SearchOptions& options) { return std::make_unique<Auto>(options); }

}  // namespace reweave
