#include "explorer/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "explorer/explain/flips.h"
#include "explorer/explain/nearest.h"
#include "explorer/explain/order_sets.h"
#include "explorer/explain/patterns.h"
#include "explorer/explain/remedies/remedies.h"

namespace reweave {

namespace {

class Explainer {
 public:
  Explainer(const Batch& batch, const RunResult& failing, const ExplainOptions& options,
            const std::function<void(const std::string&)>& progress)
      : laboratory_(batch, failing),
        failing_(failing),
        options_(options),
        progress_(progress),
        events_(events_of(failing.observed)) {}

  Explanation explain() {
    result_.failing = failing_;
    result_.outcome = describe_outcome(failing_);
    if (failing_.outcome == wire::OutcomeKind::kDeadlock) result_.deadlock = lock_cycle(failing_.observed);
    if (failing_.observed.truncated()) note("the failing run is too long: its end was not kept");
    if (options_.one_schedule)
      run_again();
    else
      experiment();
    result_.runs = laboratory_.made();
    result_.out_of_time = laboratory_.time_is_up();
    return std::move(result_);
  }

 private:
  void say(const std::string& text) const {
    if (progress_) progress_(text);
  }
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  void run_again() {
    result_.base = laboratory_.rate(at_random(), 1, 1);
    note("other schedules: the program starts no thread and no process, so there is only this one");
  }

  void experiment() {
    say("the nearest run that passes");
    NearestSearch nearest = nearest_passing_run(laboratory_, failing_);
    if (nearest.passing == 0 && !laboratory_.time_is_up())
      note(nearest.left == 0
               ? "no run that passes was found: every schedule tried fails"
               : fmt::format("no run that passes was found: {} of the {} schedules tried left the recording",
                             nearest.left, nearest.tried));
    else if (nearest.passing != 0 && !nearest.best)
      note(
          "passing runs have the same order of accesses, locks, waits and wakes, as far as seen; the order of system "
          "calls is not compared");
    say("random schedules, for comparison");
    base_rate();
    if (nearest.best) flips(nearest);
    if (!is_certain()) order_sets();
    if (options_.whole) {
      say("when the failure becomes inevitable");
      result_.curve = failure_curve(laboratory_, failing_, first_pairs(), options_.curve_points, options_.curve_runs);
      say("what would prevent it");
      remedies();
      more_base_runs();
      std::erase_if(result_.remedies, [&](const Remedy& remedy) { return !result_.is_shown(remedy); });
    }
  }

  void base_rate() {
    PatternRanking ranking;
    ranking.learn(failing_.observed, true);
    result_.base = laboratory_.rate(at_random(), options_.base_runs, 1, [&](const RunResult& run, bool failed) {
      if (failed || !run.failed()) ranking.learn(run.observed, failed);
      if (!run.failed()) reorderings_.learn(run);
    });
    constexpr std::size_t kMostPatterns = 10;
    result_.patterns = ranking.ranked(kMostPatterns);
  }

  // A remedy can only be judged if enough random schedules fail without it.
  void more_base_runs() {
    const auto untold = [&](const Remedy& remedy) {
      return remedy.rate.never() && !fails_more(result_.base, remedy.rate);
    };
    if (std::ranges::none_of(result_.remedies, untold)) return;
    result_.base += laboratory_.rate(at_random(), options_.remedy_runs, options_.base_runs + 1);
  }

  void flips(NearestSearch& nearest) {
    for (int round = 0; round < 2; round++) {
      const std::size_t before = nearest.best->pairs.size();
      if (before > 1) try_each_alone(nearest);
      if (nearest.best->pairs.size() == before) break;
    }
    const std::vector<Event> passing = events_of(nearest.best->run.observed);
    result_.pairs = nearest.best->pairs.size();
    std::vector<EventPair> pairs = chosen(nearest.best->pairs);
    const std::size_t places = places_of(nearest.best->pairs), tried_places = pairs.size();
    add_same_places(pairs, nearest.best->pairs);
    if (pairs.size() < options_.most_flips)
      for (const EventPair& pair :
           indirectly_reordered(nearest.best->pairs, events_, passing, options_.most_flips - pairs.size()))
        pairs.push_back(pair);
    for (const EventPair& pair : pairs) {
      say(fmt::format("the order of two events, {} of {}", result_.flips.size() + 1, pairs.size()));
      if (!try_pair(pair, passing)) break;
    }
    if (const std::size_t tried = std::min(result_.flips.size(), tried_places); tried < places)
      note(fmt::format("{} of {} pairs of places whose order differs", places - tried, places));
    const auto tells = [&](const Flip& flip) {
      return is_release_before_use(flip, failing_) || flip.is_measured(result_.base);
    };
    const std::optional<EventPair> misuse = release_and_use();
    if (misuse && std::ranges::none_of(result_.flips, tells)) try_pair(*misuse, passing);
    rank_flips(result_.flips, failing_, result_.base);
    if (!result_.flips.empty()) measure_more(laboratory_, result_.flips.front(), result_.base);
    result_.passing = std::move(nearest.best->run);
  }

  // True if one order makes almost every random schedule fail.
  bool is_certain() const {
    constexpr double kAlmostAll = 0.9;
    if (!result_.deadlock.empty()) return true;
    if (!result_.cause_is_shown()) return false;
    const Flip& first = result_.flips.front();
    return is_release_before_use(first, failing_) || first.forced.share() >= kAlmostAll;
  }

  // Tries orders that random passing runs reorder: single ones that the nearest passing run does not show, then sets
  // that make more runs fail than the best single order.
  void order_sets() {
    say("orders that make it fail together");
    const std::vector<Event> passing = result_.passing ? events_of(result_.passing->observed) : std::vector<Event>();
    std::vector<std::vector<EventPair>> covers = reorderings_.covers(options_.most_sets);
    for (const std::vector<EventPair>& cover : covers)
      if (cover.size() == 1 && !is_tried(cover.front()) && !try_pair(cover.front(), passing)) break;
    result_.pairs = std::max(result_.pairs, result_.flips.size());
    rank_flips(result_.flips, failing_, result_.base);
    if (is_certain()) return;
    result_.together =
        find_order_set(laboratory_, covers, result_.cause_is_shown() ? result_.flips.front().forced : result_.base);
  }
  bool is_tried(const EventPair& pair) const {
    return std::ranges::any_of(result_.flips, [&](const Flip& flip) { return flip.pair.names() == pair.names(); });
  }

  void remedies() {
    const std::vector<Event> passing = result_.passing ? events_of(result_.passing->observed) : std::vector<Event>();
    Trial trial(laboratory_, result_, events_, passing, options_.remedy_runs, options_.same_place);
    if (!result_.deadlock.empty())
      result_.remedies = try_remedies(trial, result_.deadlock);
    else if (result_.together)
      result_.remedies = try_remedies(trial, *result_.together);
    else if (!result_.flips.empty())
      flip_remedies(trial);
  }

  // If no remedy for the first flip prevents the failure but one for another flip does, moves that flip to the front.
  void flip_remedies(Trial& trial) {
    constexpr std::size_t kMostFlips = 3;
    std::vector<Flip>& flips = result_.flips;
    for (std::size_t i = 0; i < std::min(flips.size(), kMostFlips) && !laboratory_.time_is_up(); i++) {
      const bool is_weaker = flips[0].makes_failure(result_.base) && !flips[i].makes_failure(result_.base);
      if (i > 0 && (is_weaker || !flips[i].is_decisive(result_.base))) break;
      std::vector<Remedy> tried = try_remedies(trial, flips[i], is_release_before_use(flips[i], failing_));
      const bool prevents = !tried.empty() && tried.back().works();
      if (i == 0 || prevents) result_.remedies = std::move(tried);
      if (!prevents) continue;
      std::rotate(flips.begin(), flips.begin() + static_cast<std::ptrdiff_t>(i),
                  flips.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return;
    }
  }

  // False if the time was up.
  bool try_pair(const EventPair& pair, const std::vector<Event>& passing) {
    std::vector<BrokenBlock> blocks = broken_blocks(pair, events_, passing);
    std::erase_if(blocks, [&](const BrokenBlock& block) { return spans_threads(block, failing_.observed); });
    Flip flip = try_flip(laboratory_, failing_, pair, blocks);
    if (laboratory_.time_is_up()) return false;
    result_.flips.push_back(std::move(flip));
    return true;
  }
  // If the failure is a use of memory that another thread released, returns the release and the use. This pair is tried
  // only if no other pair explains the failure.
  std::optional<EventPair> release_and_use() const {
    if (failing_.outcome != wire::OutcomeKind::kMemoryError || failing_.observed.truncated() || events_.empty())
      return {};
    const Event& use = events_.back();
    for (std::size_t i = events_.size() - 1; i-- > 0;)
      if (releases(events_[i], use)) return EventPair{events_[i], use};
    return {};
  }
  static bool releases(const Event& release, const Event& use) {
    const std::uint64_t block = release.note.object;
    return is_release(release.note) && release.name.thread != use.name.thread && use.note.object >= block &&
           use.note.object < block + release.note.detail;
  }

  // Reverses each pair alone. A run that then passes may be even nearer to the failing run.
  void try_each_alone(NearestSearch& nearest) {
    std::vector<RunRequest> requests;
    for (const EventPair& pair : chosen(nearest.best->pairs)) {
      Guide guide;
      guide.switches = switches_of(failing_);
      guide.orders = {{pair.then.name, pair.first.name}};
      requests.push_back(request_of(guide, 1));
      requests.back().observe = true;
    }
    for (const RunResult& run : laboratory_.runs(requests))
      if (run.guide.let_go == 0) keep_nearer(nearest, run, events_);
  }

  static std::size_t places_of(const std::vector<EventPair>& pairs) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> places;
    for (const EventPair& pair : pairs) places.insert({pair.first.name.pc, pair.then.name.pc});
    return places.size();
  }

  // Chooses the latest pair for each combination of two places in the code, at most options_.most_flips pairs.
  std::vector<EventPair> chosen(const std::vector<EventPair>& pairs) const {
    std::vector<EventPair> list;
    for (std::size_t i = pairs.size(); i-- > 0 && list.size() < options_.most_flips;) {
      const auto alike = [&](const EventPair& other) {
        return other.first.name.pc == pairs[i].first.name.pc && other.then.name.pc == pairs[i].then.name.pc;
      };
      if (std::ranges::none_of(list, alike)) list.push_back(pairs[i]);
    }
    return list;
  }

  // Adds a few more pairs of the same places: a library function that is not inlined, such as `std::mutex::lock`, is
  // one place for all its callers.
  void add_same_places(std::vector<EventPair>& list, const std::vector<EventPair>& pairs) const {
    constexpr std::size_t kMostMore = 4;
    const std::size_t most = std::min(list.size() + kMostMore, options_.most_flips);
    for (std::size_t i = pairs.size(); i-- > 0 && list.size() < most;) {
      if (std::ranges::find(list, pairs[i].names(), &EventPair::names) == list.end()) list.push_back(pairs[i]);
    }
  }

  std::vector<EventPair> first_pairs() const {
    std::vector<EventPair> list;
    for (const Flip& flip : result_.flips) list.push_back(flip.pair);
    return list;
  }

  Laboratory laboratory_;
  const RunResult& failing_;
  const ExplainOptions& options_;
  const std::function<void(const std::string&)>& progress_;
  std::vector<Event> events_;
  Reorderings reorderings_{events_};
  Explanation result_;
};

}  // namespace

Explanation explain(const Batch& batch, const RunResult& failing, const ExplainOptions& options,
                    const std::function<void(const std::string&)>& progress) {
  return Explainer(batch, failing, options, progress).explain();
}

}  // namespace reweave
