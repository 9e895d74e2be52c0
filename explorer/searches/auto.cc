// auto: the active tester, then turns of several searches that share what the runs show. The default.
//
// The turns are weighted by what finds shallow bugs soonest: samplers of conflict orders first, then priorities, then
// uniform walks over one variable, and now and then a systematic search, which finds what needs a rare order.
#include "explorer/searches/active.h"

namespace reweave {

namespace {

// The order of turns; each is used over and over.
constexpr const char* kTurns[] = {"pos", "pctvb", "surw", "pct", "pos", "random", "surw", "hapset"};

class Auto : public Search {
 public:
  explicit Auto(const SearchOptions& options) : active_(make_active(options)) {
    for (const char* name : kTurns) {
      Turn turn = {name, nullptr};
      for (const Turn& other : turns_)
        if (other.name == turn.name) turn.search = other.search;
      if (turn.search == nullptr) turn.search = find_search(name)->make(options);
      turns_.push_back(turn);
    }
  }

  std::optional<RunRequest> next() override {
    if (!active_->complete())
      if (auto request = active_->next()) {
        // While there is much to test the portfolio gets every other run.
        asked_.push_back(active_.get());
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
    asked_.erase(asked_.begin());
    search->learn(request, result);
  }

 private:
  struct Turn {
    std::string name;
    std::shared_ptr<Search> search;
  };
  std::unique_ptr<Search> active_;
  std::vector<Turn> turns_;
  std::size_t turn_ = 0;
  std::vector<Search*> asked_;
};

}  // namespace

std::unique_ptr<Search> make_auto(const SearchOptions& options) { return std::make_unique<Auto>(options); }

}  // namespace reweave
