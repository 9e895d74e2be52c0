#include "predictor/predict.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "predictor/analysis.h"
#include "predictor/seqcheck.h"

namespace reweave {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Events before a window that are looked at, too: reorderings often need the sections just before.
constexpr EventIndex kWindowMargin = 2000;
// Traces up to this size are always decided in full.
constexpr EventIndex kSmallTrace = 20'000;

class Predictor {
 public:
  Predictor(const TraceModel& model, const PredictOptions& options)
      : model_(model),
        options_(options),
        begin_(Clock::now()),
        order_(model),
        locksets_(model),
        check_(model, order_),
        input_{model, order_, locksets_, [this] { return expired(); }} {}

  std::vector<Candidate> run(PredictStats& stats) {
    stats.passes.push_back({"order", seconds_since(begin_), 0, 0, 0});
    for (const AnalysisRow& row : all_analyses()) {
      const auto& wanted = options_.analyses;
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end()) pass(row, stats);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : a.count > b.count;
    });
    if (found_.size() > options_.max_candidates) found_.resize(options_.max_candidates);
    stats.out_of_time = expired();
    return std::move(found_);
  }

 private:
  bool expired() const { return seconds_since(begin_) > options_.budget_seconds; }

  void pass(const AnalysisRow& row, PredictStats& stats) {
    const auto start = Clock::now();
    PredictStats::Pass pass{row.name, 0, 0, 0, 0};
    std::vector<Group> groups = row.make()->propose(input_);
    pass.groups = groups.size();
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.score > b.score; });
    for (Group& group : groups) {
      if (expired()) break;
      if (decide(group, pass)) ++pass.feasible;
    }
    pass.seconds = seconds_since(start);
    stats.passes.push_back(pass);
  }

  // Near instances first: they are cheap. Windows before whole traces, for the same reason.
  bool decide(Group& group, PredictStats::Pass& pass) {
    const auto span = [](const Instance& i) {
      const auto [low, high] = std::minmax_element(i.events.begin(), i.events.end());
      return *high - *low;
    };
    std::stable_sort(group.instances.begin(), group.instances.end(),
                     [&](const Instance& a, const Instance& b) { return span(a) < span(b); });
    for (const Instance& instance : group.instances) {
      ++pass.checks;
      if (accept(group, instance, check_.check(instance.query, window_start(instance)))) return true;
      if (expired()) return false;
    }
    std::size_t whole = model_.size() <= kSmallTrace ? group.instances.size() : 1;
    for (const Instance& instance : group.instances) {
      if (whole-- == 0 || expired()) break;
      if (window_start(instance) == 0) continue;
      ++pass.checks;
      if (accept(group, instance, check_.check(instance.query))) return true;
    }
    return false;
  }

  EventIndex window_start(const Instance& instance) const {
    EventIndex first = kNone;
    for (EventIndex e : instance.events) first = std::min(first, locksets_.outermost(e));
    return first > kWindowMargin ? first - kWindowMargin : 0;
  }

  bool accept(const Group& group, const Instance& instance, const Verdict& verdict) {
    if (verdict.answer != Feasibility::kFeasible) return false;
    Candidate candidate;
    candidate.kind = group.kind;
    candidate.pattern = group.pattern;
    candidate.query = instance.query;
    candidate.witness = Witness(model_, verdict.witness);
    candidate.score = group.score;
    candidate.count = group.count;
    for (EventIndex e : instance.events) {
      candidate.events.push_back({e, model_.thread[e], model_.op[e], model_.site[e], model_.object[e]});
    }
    found_.push_back(std::move(candidate));
    return true;
  }

  const TraceModel& model_;
  const PredictOptions& options_;
  Clock::time_point begin_;
  MustOrder order_;
  Locksets locksets_;
  SeqCheck check_;
  AnalysisInput input_;
  std::vector<Candidate> found_;
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

std::vector<Candidate> predict(const TraceModel& model, const PredictOptions& options, PredictStats* stats) {
  require_known(options.analyses);
  PredictStats ignored;
  return Predictor(model, options).run(stats ? *stats : ignored);
}

}  // namespace reweave
