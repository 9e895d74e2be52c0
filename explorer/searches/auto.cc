// auto, the default: alternates between predicted candidates, flips, and an opening of runs that stop threads between
// related accesses. After the opening, the active tester and several searches take part, which share what the runs
// show.
//
// The opening needs no knowledge of the program and finds most shallow bugs (scripts/bench bugs shows what each search
// finds); it is the same for every seed. The turns are weighted by how soon each search finds bugs.
#include <fmt/format.h>

#include <deque>
#include <iterator>
#include <map>

#include "explorer/searches/active.h"
#include "explorer/searches/flips.h"
#include "explorer/searches/predicted.h"

namespace reweave {

namespace {

// Policies and their variants, ordered by how many programs each breaks that the previous ones do not.
struct Opening {
  const char* policy;
  std::uint64_t variant;
};
constexpr Opening kOpening[] = {{"wedge", 5},      {"wedge", 6 | 16},      {"handover", 3},
                                {"wedge", 9 | 32}, {"wedge", 4 | 16 | 32}, {"handover", 4 | 8}};
// Predicted candidates get every other run as long as they are likely to fail, for at most kUrgentRuns runs; then every
// fourth.
constexpr std::uint64_t kUrgentShare = 2, kPredictedShare = 4, kUrgentRuns = 6;
// The active tester gets every other turn at first, then every fourth: its later tests are less suspicious.
constexpr std::uint64_t kActiveShare = 2, kLaterActiveShare = 4, kActiveFirst = 8, kActiveAlone = 2;
// Flips get every other of the remaining turns, soon every fourth: what they find they mostly find at once. Runs of the
// other searches already differ much from a plain run, so they are flipped later.
constexpr std::uint64_t kFlipsShare = 2, kLaterFlipsShare = 4, kFlipsFirst = 6;
constexpr unsigned kOthersFlips = 2;
// The order of turns, used cyclically. The two that find most of the bugs that are left look for different things, so
// they come first and most often: orders of one variable's accesses, threads held back at one variable's accesses.
constexpr const char* kTurns[] = {"surw", "pctvb", "pos",    "surw",      "pctvb", "dpor", "surw",  "pctvb", "pct",
                                  "surw", "pctvb", "random", "goexplore", "dpor",  "surw", "pctvb", "pos",   "hapset"};
// A bug not found within kPatience runs is likely to need many rare steps in a row. From then on every other run
// continues from a state of an earlier run (goexplore). After twice as many runs three of four do, and so on, until
// only one run in kLeastOthers does not.
constexpr std::uint64_t kPatience = 500, kLeastOthers = 16;

// Returns n: after `made` runs, one run in n does not go to goexplore; 0: no run goes to it.
std::uint64_t others_share(std::uint64_t made) {
  std::uint64_t share = made < kPatience ? 0 : 2;
  for (std::uint64_t patience = 2 * kPatience; made >= patience && share < kLeastOthers; patience *= 2) share *= 2;
  return share;
}

class Auto : public Search {
 public:
  explicit Auto(const SearchOptions& options)
      : active_(make_active(options)), flips_(make_flip_search(options, false)) {
    if (options.opened) opened_ = std::size(kOpening);
    if (options.feed != nullptr) predicted_ = std::make_unique<Predicted>(options);
    for (const char* name : kTurns) {
      Turn turn = {name, nullptr};
      for (const Turn& other : turns_)
        if (other.name == turn.name) turn.search = other.search;
      if (turn.search == nullptr) turn.search = find_search(name)->make(options);
      if (turn.name == "goexplore") deep_ = turn.search.get();
      turns_.push_back(turn);
    }
  }

  std::string report() const override {
    std::string text = predicted_ == nullptr ? "" : predicted_->report();
    std::string sources;
    for (const auto& [name, runs] : runs_of_)
      if (runs != 0) sources += fmt::format("{}{} {}", sources.empty() ? "" : ", ", name, runs);
    if (!sources.empty()) text += fmt::format("{}runs by source: {}", text.empty() ? "" : "; ", sources);
    return text;
  }

  std::optional<RunRequest> next() override {
    if (predicted_ != nullptr) {
      const bool urgent = runs_of_["predicted"] < kUrgentRuns && predicted_->is_urgent();
      if (turns_made_++ % (urgent ? kUrgentShare : kPredictedShare) == 0)
        if (auto request = ask(*predicted_, "predicted")) return request;
    }
    const bool many = runs_of_["flips"] >= kFlipsFirst;
    if (flip_turns_++ % (many ? kLaterFlipsShare : kFlipsShare) == 1)
      if (auto request = ask(*flips_, "flips")) return request;
    if (opened_ < std::size(kOpening)) return opening();
    const std::uint64_t made = made_++;
    if (const std::uint64_t share = others_share(made); share != 0 && made % share != 0)
      if (auto request = ask(*deep_, "goexplore")) return request;
    const std::uint64_t other = others_made_++;
    const bool is_active =
        other < kActiveAlone || other % (other < kActiveFirst ? kActiveShare : kLaterActiveShare) == 0;
    if (is_active && !active_->complete())
      if (auto request = ask(*active_, "active")) return request;
    for (std::size_t tries = 0; tries < turns_.size(); tries++) {
      const Turn& turn = turns_[turn_++ % turns_.size()];
      if (auto request = ask(*turn.search, turn.name)) return request;
    }
    return {};
  }

  void learn(const RunRequest& request, const RunResult& result) override {
    Search* search = asked_.front();
    asked_.pop_front();
    if (search != nullptr) search->learn(request, result);
    if (search != flips_.get()) flips_->see(result, search == nullptr || search == predicted_.get() ? 0 : kOthersFlips);
  }

 private:
  std::optional<RunRequest> ask(Search& search, const std::string& name) {
    std::optional<RunRequest> request = search.next();
    if (!request) return {};
    asked_.push_back(&search);
    runs_of_[name]++;
    return request;
  }

  RunRequest opening() {
    RunRequest request;
    const Opening& row = kOpening[opened_++];
    request.policy = row.policy;
    request.depth = row.variant;
    request.own_quiet = true;  // all of its accesses are schedule points
    runs_of_["opening"]++;
    request.observe = true;
    asked_.push_back(nullptr);
    return request;
  }

  struct Turn {
    std::string name;
    std::shared_ptr<Search> search;
  };
  std::unique_ptr<Predicted> predicted_;  // null if nothing is predicted
  std::unique_ptr<Search> active_;
  std::unique_ptr<FlipSearch> flips_;
  std::uint64_t flip_turns_ = 0;
  std::vector<Turn> turns_;
  Search* deep_ = nullptr;  // goexplore, of turns_: gets more and more of the runs
  std::size_t turn_ = 0;
  std::uint64_t turns_made_ = 0;
  std::size_t opened_ = 0;
  std::uint64_t made_ = 0, others_made_ = 0;  // runs after the opening; those of them not given to goexplore
  std::map<std::string, std::uint64_t> runs_of_;
  std::deque<Search*> asked_;  // which search asked for each run; null: the opening
};

}  // namespace

std::unique_ptr<Search> make_auto(const SearchOptions& options) { return std::make_unique<Auto>(options); }

}  // namespace reweave
