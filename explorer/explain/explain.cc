#include "explorer/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "explorer/explain/flips.h"
#include "explorer/explain/nearest.h"
#include "explorer/explain/patterns.h"
#include "explorer/explain/remedies.h"

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
    if (failing_.observed.truncated()) note("the failing run is longer than what is kept of it: its end is not seen");
    say("the nearest run that passes");
    std::optional<NearestRun> nearest = nearest_passing_run(laboratory_, failing_);
    if (!nearest) note("no run that passes was found: every schedule tried fails");
    say("random schedules, for comparison");
    base_rate();
    if (nearest) flips(nearest);
    if (options_.whole) {
      say("when the failure becomes inevitable");
      result_.curve = failure_curve(laboratory_, failing_, first_pairs(), options_.curve_points, options_.curve_runs);
      say("what would prevent it");
      if (!result_.flips.empty())
        result_.remedies = try_remedies(laboratory_, result_.flips.front(), events_, options_.remedy_runs);
    }
    result_.runs = laboratory_.made();
    result_.out_of_time = laboratory_.time_is_up();
    return std::move(result_);
  }

 private:
  void say(const std::string& text) const {
    if (progress_) progress_(text);
  }
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  void base_rate() {
    PatternRanking ranking;
    ranking.learn(failing_.observed, true);
    Guide random;
    random.choices = 0;
    result_.base = laboratory_.rate(random, options_.base_runs, 1, [&](const RunResult& run, bool failed) {
      if (failed || !run.failed()) ranking.learn(run.observed, failed);
    });
    constexpr std::size_t kMostPatterns = 10;
    result_.patterns = ranking.ranked(kMostPatterns);
  }

  void flips(std::optional<NearestRun>& nearest) {
    for (int round = 0; round < 2; round++) {
      const std::size_t before = nearest->pairs.size();
      if (before > 1) try_each_alone(nearest);
      if (nearest->pairs.size() == before) break;
    }
    const std::vector<Event> passing = events_of(nearest->run.observed);
    result_.pairs = nearest->pairs.size();
    for (const EventPair& pair : chosen(nearest->pairs)) {
      say(fmt::format("the order of {} and {}", result_.flips.size() + 1, nearest->pairs.size()));
      Flip flip = try_flip(laboratory_, failing_, pair, broken_block(pair, events_, passing));
      if (laboratory_.time_is_up()) break;
      result_.flips.push_back(std::move(flip));
    }
    if (result_.flips.size() < result_.pairs)
      note(fmt::format("{} of {} reordered pairs were not tried", result_.pairs - result_.flips.size(), result_.pairs));
    rank_flips(result_.flips);
    result_.passing = std::move(nearest->run);
  }

  // One pair alone in the other order may pass already, which is nearer still.
  void try_each_alone(std::optional<NearestRun>& nearest) {
    std::vector<RunRequest> requests;
    for (const EventPair& pair : chosen(nearest->pairs)) {
      Guide guide;
      guide.switches = switches_of(failing_);
      guide.orders = {{pair.then.name, pair.first.name}};
      requests.push_back(request_of(guide, 1));
      requests.back().observe = true;
    }
    for (const RunResult& run : laboratory_.runs(requests))
      if (run.guide.let_go == 0) keep_nearer(nearest, run, events_);
  }

  // One pair of each two places in the code, the latest of them, as many as the options allow.
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
  Explanation result_;
};

}  // namespace

Explanation explain(const Batch& batch, const RunResult& failing, const ExplainOptions& options,
                    const std::function<void(const std::string&)>& progress) {
  return Explainer(batch, failing, options, progress).explain();
}

}  // namespace reweave
