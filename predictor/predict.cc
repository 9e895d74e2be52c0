#include "predictor/predict.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>

#include "predictor/analysis.h"
#include "predictor/seqcheck.h"

namespace reweave {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Events before a window that are looked at, too: reorderings often need the sections just before.
constexpr EventIndex kWindowMargin = 300;
// In traces up to this size every instance that its window did not decide is looked at in the whole trace.
constexpr EventIndex kSmallTrace = 20'000;
// Whole traces looked at, in events, all groups together.
constexpr std::uint64_t kMaxWholeEvents = 20'000'000;

// What depends on the read rule.
struct Round {
  Round(const TraceModel& model, const Locksets& locksets, ReadRule read_rule, std::function<bool()> expired)
      : rule(read_rule), order(model, rule), check(model, order), input{model, order, locksets, std::move(expired)} {}

  ReadRule rule;
  MustOrder order;
  SeqCheck check;
  AnalysisInput input;
};

// What an assumption takes off the score.
constexpr double kAssumptionCost = 0.3;

class Predictor {
 public:
  Predictor(const TraceModel& model, const PredictOptions& options)
      : model_(model), options_(options), begin_(Clock::now()), locksets_(model) {}

  std::vector<Finding> run(PredictStats& stats) {
    round(ReadRule::kAllDecide, stats);
    const auto feeds = [](std::uint8_t flags) { return (flags & kFeedsWrite) != 0; };
    if (options_.assume_data_reads && std::any_of(model_.flags.begin(), model_.flags.end(), feeds)) {
      round(ReadRule::kUpdatesCarryData, stats);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) {
      return a.score != b.score ? a.score > b.score : a.count > b.count;
    });
    if (found_.size() > options_.max_findings) found_.resize(options_.max_findings);
    stats.out_of_time = expired();
    return std::move(found_);
  }

 private:
  bool expired() const { return seconds_since(begin_) > options_.budget_seconds; }

  void round(ReadRule rule, PredictStats& stats) {
    const auto start = Clock::now();
    Round round(model_, locksets_, rule, [this] { return expired(); });
    const bool assuming = rule != ReadRule::kAllDecide;
    stats.passes.push_back({assuming ? "order, assuming" : "order", seconds_since(start), 0, 0, 0});
    for (const AnalysisRow& row : all_analyses()) {
      const auto& wanted = options_.analyses;
      const bool named = wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
      if (named && (!assuming || row.assuming)) pass(row, round, stats);
    }
  }

  void pass(const AnalysisRow& row, Round& round, PredictStats& stats) {
    const auto start = Clock::now();
    PredictStats::Pass pass{row.name, 0, 0, 0, 0};
    if (round.rule != ReadRule::kAllDecide) pass.name += ", assuming";
    std::vector<Group> groups = row.make()->propose(round.input);
    std::erase_if(groups, [&](const Group& group) { return certain_.contains(signature(group)); });
    pass.groups = groups.size();
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.score > b.score; });
    std::vector<Group*> left;
    for (Group& group : groups) {
      if (expired()) break;
      if (!decide_near(group, round, pass)) left.push_back(&group);
    }
    for (Group* group : left) {
      if (expired() || !decide_far(*group, round, pass)) break;
    }
    pass.seconds = seconds_since(start);
    stats.passes.push_back(pass);
  }

  // Kind, pattern and code locations: the same for both rounds.
  std::vector<std::uint32_t> signature(const Group& group) const {
    std::vector<std::uint32_t> result{static_cast<std::uint32_t>(group.kind)};
    for (char c : group.pattern) result.push_back(static_cast<unsigned char>(c));
    for (EventIndex e : group.instances[0].events) result.push_back(model_.site[e]);
    return result;
  }

  // Looks at windows of the trace, near instances first: both are cheap. True if the group needs no further look.
  bool decide_near(Group& group, Round& round, PredictStats::Pass& pass) {
    const auto span = [](const Instance& i) {
      const auto [low, high] = std::minmax_element(i.events.begin(), i.events.end());
      return *high - *low;
    };
    std::stable_sort(group.instances.begin(), group.instances.end(),
                     [&](const Instance& a, const Instance& b) { return span(a) < span(b); });
    bool whole = true;
    for (Instance& instance : group.instances) {
      instance.query.rule = round.rule;
      if (accept(group, instance, round.check.check(instance.query, window_start(instance)), pass)) return true;
      whole &= window_start(instance) == 0;
      if (expired()) return true;
    }
    return whole;
  }

  // Looks at the whole trace, as far as the work allowed for that goes. False once it is used up.
  bool decide_far(Group& group, Round& round, PredictStats::Pass& pass) {
    for (const Instance& instance : group.instances) {
      if (window_start(instance) == 0) continue;
      if (whole_events_ + model_.size() > kMaxWholeEvents || expired()) return false;
      whole_events_ += model_.size();
      if (accept(group, instance, round.check.check(instance.query), pass)) return true;
      if (model_.size() > kSmallTrace) return true;  // one try each
    }
    return true;
  }

  EventIndex window_start(const Instance& instance) const {
    EventIndex first = kNone;
    for (EventIndex e : instance.events) first = std::min(first, locksets_.outermost(e));
    return first > kWindowMargin ? first - kWindowMargin : 0;
  }

  bool accept(const Group& group, const Instance& instance, const Verdict& verdict, PredictStats::Pass& pass) {
    ++pass.checks;
    if (verdict.answer != Feasibility::kFeasible) return false;
    Finding finding;
    finding.kind = group.kind;
    finding.pattern = group.pattern;
    finding.query = instance.query;
    finding.witness = Witness(model_, verdict.witness);
    finding.assumes_data_only = instance.query.rule != ReadRule::kAllDecide;
    finding.score = group.score - (finding.assumes_data_only ? kAssumptionCost : 0);
    finding.count = group.count;
    for (EventIndex e : instance.events) {
      finding.events.push_back({e, model_.thread[e], model_.op[e], model_.site[e], model_.object[e]});
    }
    found_.push_back(std::move(finding));
    certain_.insert(signature(group));
    ++pass.feasible;
    return true;
  }

  const TraceModel& model_;
  const PredictOptions& options_;
  Clock::time_point begin_;
  Locksets locksets_;
  std::set<std::vector<std::uint32_t>> certain_;  // signatures of groups found feasible
  std::vector<Finding> found_;
  std::uint64_t whole_events_ = 0;
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
