#include "predictor/predict.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <stdexcept>
#include <tuple>

#include "predictor/decide/analysis.h"
#include "predictor/decide/decider.h"
#include "predictor/decide/decision_journal.h"
#include "predictor/model/value_links.h"
#include "predictor/report/demotions.h"
#include "predictor/report/shortlist.h"

namespace reweave {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The state that depends on the read rule, and on the writes that reads are linked to.
struct Round {
  Round(const TraceModel& model, const Locksets& locksets, ReadRule read_rule, std::string of_kind,
        std::function<bool()> expired, const Limits& limits, LeftOut& left_out)
      : kind(std::move(of_kind)),
        rule(read_rule),
        order(model, rule),
        decider(model, order, locksets, expired),
        input{model, order, locksets, std::move(expired), limits, left_out} {}

  std::string kind;  // added to the names of its passes
  ReadRule rule;
  MustOrder order;
  Decider decider;
  AnalysisInput input;
};

// Subtracted from the score for an assumption.
constexpr double kAssumptionCost = 0.3;
// Added to the score if one of the accesses is in an assertion.
constexpr double kAssertionWorth = 0.2;
// Longer traces are searched with the links of the trace only: the others need a second copy of it.
constexpr std::size_t kMostForEqualValues = 4'000'000;

class Predictor {
 public:
  Predictor(const TraceModel& model, const PredictOptions& options)
      : model_(model), options_(options), begin_(Clock::now()), locksets_(model) {}

  std::vector<Finding> run(PredictStats& stats) {
    round(model_, ReadRule::kAllDecide, "", stats);
    const auto feeds = [](std::uint8_t flags) { return (flags & kFeedsWrite) != 0 && (flags & kDecidesNothing) == 0; };
    if (options_.assume_data_reads && std::any_of(model_.flags.begin(), model_.flags.end(), feeds)) {
      round(model_, ReadRule::kUpdatesCarryData, ", assuming", stats);
    }
    by_equal_values(stats);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
    if (options_.place) merge_causes(model_, options_.place, found_);
    stats.left_out.findings += keep_best(options_.limits.findings, found_);
    stats.out_of_time = expired();
    return std::move(found_);
  }

 private:
  // The lowest rank comes first. Scores that are displayed alike count as equal.
  static std::tuple<long, std::size_t, EventIndex, std::int64_t> rank(const Finding& f) {
    const auto before = [](const FindingEvent& a, const FindingEvent& b) { return a.index < b.index; };
    const auto [first, last] = std::minmax_element(f.events.begin(), f.events.end(), before);
    return {-std::lround(f.score * 10), f.witness.runs().size(), last->index - first->index, -std::int64_t{f.count}};
  }

  bool expired() const {
    return seconds_since(begin_) > options_.budget_seconds || (options_.interrupted && options_.interrupted());
  }

  // Searches once more, with each read linked to the first write of its value.
  void by_equal_values(PredictStats& stats) {
    if (options_.keep_order || model_.stored.empty()) return;
    if (model_.size() > kMostForEqualValues) {
      stats.left_out.equal_values = 1;
      return;
    }
    const std::optional<TraceModel> linked = link_to_first_equal(model_);
    if (!linked) return;
    const LeftOut counted = stats.left_out;
    round(*linked, ReadRule::kAllDecide, ", by value", stats);
    stats.left_out = counted;  // the limits leave out the same as before
  }

  void round(const TraceModel& model, ReadRule rule, const std::string& kind, PredictStats& stats) {
    const auto start = Clock::now();
    Round round(
        model, locksets_, rule, kind, [this] { return expired(); }, options_.limits, stats.left_out);
    const bool assuming = rule != ReadRule::kAllDecide;
    stats.passes.push_back({"order" + kind, seconds_since(start), 0, 0, 0, 0});
    for (const AnalysisRow& row : all_analyses()) {
      const auto& wanted = options_.analyses;
      const bool named = wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
      if (named && (!assuming || row.assuming)) pass(row, round, stats);
    }
  }

  void pass(const AnalysisRow& row, Round& round, PredictStats& stats) {
    const auto start = Clock::now();
    PredictStats::Pass pass{row.name + round.kind, 0, 0, 0, 0, 0};
    std::vector<Group> groups = row.make()->propose(round.input);
    std::erase_if(groups, [&](const Group& group) { return certain_.contains(signature(group)); });
    pass.groups = groups.size();
    for (const Group& group : groups) stats.left_out.instances += group.count - group.instances.size();
    if (expired()) stats.unfinished.push_back(pass.name);
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.score > b.score; });
    for (Group& group : groups) {
      for (Instance& instance : group.instances) instance.query.rule = round.rule;
    }
    const auto progress = [&](std::size_t done) {
      if (options_.progress) options_.progress(pass.name, done, groups.size());
    };
    progress(0);
    std::vector<Decision> decisions = round.decider.decide(groups, journalled(pass.name, round.rule, groups, progress));
    for (std::size_t i = 0; i < groups.size(); ++i) {
      pass.checks += decisions[i].checks;
      pass.undecided += decisions[i].undecided ? 1 : 0;
      if (decisions[i].feasible) accept(groups[i], decisions[i], pass);
      if (decisions[i].undecided) stats.undecided.push_back(undecided(groups[i]));
    }
    pass.seconds = seconds_since(start);
    stats.passes.push_back(pass);
  }

  Decider::Options journalled(const std::string& name, ReadRule rule, const std::vector<Group>& groups,
                              const std::function<void(std::size_t)>& progress) const {
    Decider::Options options{options_.keep_order, progress, {}, {}};
    DecisionJournal* journal = options_.journal;
    if (journal == nullptr) return options;
    std::vector<std::uint64_t> keys;
    for (const Group& group : groups) keys.push_back(question_key(name, rule, options_.keep_order, group));
    options.known = [journal, keys](std::size_t i) { return journal->find(keys[i]); };
    options.decided = [journal, keys](std::size_t i, const Decision& decision) { journal->add(keys[i], decision); };
    return options;
  }

  // Identifies a group in both rounds, by kind, pattern and code locations.
  std::vector<std::uint32_t> signature(const Group& group) const {
    std::vector<std::uint32_t> result{static_cast<std::uint32_t>(group.kind)};
    for (char c : group.pattern) result.push_back(static_cast<unsigned char>(c));
    for (EventIndex e : group.instances[0].events) result.push_back(model_.site[e]);
    return result;
  }

  PredictStats::Undecided undecided(const Group& group) const {
    PredictStats::Undecided result{group.kind, group.pattern, {}};
    for (EventIndex e : group.instances[0].events) result.sites.push_back(model_.site[e]);
    return result;
  }

  void accept(const Group& group, Decision& decision, PredictStats::Pass& pass) {
    const Instance& instance = group.instances[*decision.feasible];
    Finding finding;
    finding.kind = group.kind;
    finding.pattern = group.pattern;
    finding.query = instance.query;
    finding.witness = std::move(decision.witness);
    finding.assumes_data_only = instance.query.rule != ReadRule::kAllDecide;
    finding.score = group.score - (finding.assumes_data_only ? kAssumptionCost : 0);
    finding.count = group.count;
    bool asserted = false;
    for (EventIndex e : instance.events) {
      if (!asserted && options_.asserts && options_.asserts(model_.site[e])) asserted = true;
      finding.events.push_back({e, model_.thread[e], model_.op[e], model_.site[e], model_.object[e]});
    }
    if (asserted) finding.score += kAssertionWorth;
    demotions_.apply(finding);
    found_.push_back(std::move(finding));
    certain_.insert(signature(group));
    ++pass.feasible;
  }

  const TraceModel& model_;
  const PredictOptions& options_;
  Clock::time_point begin_;
  Locksets locksets_;
  Demotions demotions_{model_};
  std::set<std::vector<std::uint32_t>> certain_;  // signatures of groups found feasible
  std::vector<Finding> found_;
};

void require_known(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::string known;
    bool found = false;
    for (const AnalysisRow& row : all_analyses()) {
      found |= name == row.name;
      known += std::string(known.empty() ? "" : ", ") + row.name;
    }
    if (!found) throw std::invalid_argument("unknown analysis '" + name + "'; known: " + known);
  }
}

}  // namespace

std::vector<Finding> predict(const TraceModel& model, const PredictOptions& options, PredictStats* stats) {
  require_known(options.analyses);
  PredictStats ignored;
  return Predictor(model, options).run(stats ? *stats : ignored);
}

}  // namespace reweave
