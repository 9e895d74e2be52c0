#include "predictor/witness_check.h"

#include <algorithm>
#include <unordered_map>

namespace reweave {
namespace {

// The state of a run of the witness.
class Execution {
 public:
  Execution(const TraceModel& model, ReadRule rule)
      : model_(model),
        rule_(rule),
        done_(model.thread_count(), 0),
        tainted_(model.thread_count(), false),
        misled_(model.thread_count(), false),
        first_wrong_(model.thread_count()),
        last_write_(model.variables.size(), Written{}),
        when_(model.thread_count()) {
    for (std::uint32_t t = 0; t < model.thread_count(); ++t) when_[t].reserve(model.thread_size(t));
  }

  Violation step(EventIndex e) {
    if (e >= model_.size() || done_[model_.thread[e]] != model_.position[e]) return {Violation::kBadShape, e, kNone};
    Violation violation = must_order(e);
    if (violation.kind == Violation::kNothing) violation = decide(e);
    if (violation.kind == Violation::kNothing) violation = lock(e);
    if (violation.kind == Violation::kNothing) violation = access(e);
    ++done_[model_.thread[e]];
    when_[model_.thread[e]].push_back(++now_);
    return violation;
  }

  // The state reached is the one asked for.
  Violation finish(const OrderQuery& query) {
    std::uint32_t last = 0;
    for (EventIndex e : query.sequence) {
      if (!executed(e) || when(e) < last) return {Violation::kBadShape, e, kNone};
      last = when(e);
    }
    for (EventIndex e : query.stops) {
      if (done_[model_.thread[e]] != model_.position[e]) return {Violation::kBadShape, e, kNone};
      Violation violation = must_order(e);
      if (violation.kind == Violation::kNothing) violation = decide(e);
      if (violation.kind != Violation::kNothing) return violation;
    }
    return {};
  }

 private:
  struct Written {
    EventIndex write = kNone;
    bool tainted = false;
  };
  struct Lock {
    EventIndex exclusive = kNone;
    std::vector<EventIndex> shared;
  };

  bool executed(EventIndex e) const { return model_.position[e] < done_[model_.thread[e]]; }
  std::uint32_t when(EventIndex e) const { return when_[model_.thread[e]][model_.position[e]]; }

  Violation must_order(EventIndex e) const {
    for (const MustEdge& edge : model_.edges_into(model_.thread[e], model_.position[e], model_.position[e] + 1)) {
      if (!executed(edge.source)) return {Violation::kMustOrder, e, edge.source};
      if (edge.before_source != kNone && when(edge.before_source) > when(edge.source)) {
        return {Violation::kMustOrder, edge.source, edge.before_source};
      }
    }
    return {};
  }

  Violation decide(EventIndex e) const {
    const std::uint32_t t = model_.thread[e];
    const bool decides = model_.has_branches ? model_.op[e] == Op::kBranch || model_.op[e] == Op::kEnd
                                             : (model_.flags[e] & kSameInstruction) == 0;
    return decides && misled_[t] ? first_wrong_[t] : Violation{};
  }

  Violation lock(EventIndex e) {
    if (!model_.is_acquire(e) && !model_.is_release(e)) return {};
    Lock& state = locks_[model_.object[e]];
    if (model_.is_release(e)) {
      std::erase(state.shared, model_.link[e]);
      if (state.exclusive == model_.link[e]) state.exclusive = kNone;
      return {};
    }
    if (state.exclusive != kNone) return {Violation::kLockHeld, e, state.exclusive};
    if (model_.is_shared(e)) {
      state.shared.push_back(e);
      return {};
    }
    if (!state.shared.empty()) return {Violation::kLockHeld, e, state.shared.front()};
    state.exclusive = e;
    return {};
  }

  Violation access(EventIndex e) {
    if (!model_.is_access(e)) return {};
    const std::uint32_t t = model_.thread[e];
    Written& last = last_write_[model_.object[e]];
    if (model_.is_read(e) && (last.write != model_.link[e] || last.tainted)) {
      const bool same = last.write == model_.link[e];
      const Violation wrong{same ? Violation::kTainted : Violation::kWrongWrite, e, last.write};
      if (model_.is_atomic(e)) return wrong;
      tainted_[t] = true;
      if (!model_.carries_data(e, rule_)) {
        if (!misled_[t]) first_wrong_[t] = wrong;
        misled_[t] = true;
      }
    }
    if (model_.is_write(e)) last = {e, tainted_[t]};
    return {};
  }

  const TraceModel& model_;
  ReadRule rule_;
  std::vector<std::uint32_t> done_;
  std::vector<bool> tainted_;  // writes other values than in the trace
  std::vector<bool> misled_;   // may not decide anything
  std::vector<Violation> first_wrong_;
  std::vector<Written> last_write_;
  std::unordered_map<std::uint32_t, Lock> locks_;
  std::vector<std::vector<std::uint32_t>> when_;
  std::uint32_t now_ = 0;
};

}  // namespace

Violation check_witness(const TraceModel& model, const OrderQuery& query, const std::vector<EventIndex>& witness) {
  Execution execution(model, query.rule);
  for (EventIndex e : witness) {
    const Violation violation = execution.step(e);
    if (violation.kind != Violation::kNothing) return violation;
  }
  return execution.finish(query);
}

}  // namespace reweave
