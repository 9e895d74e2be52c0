#include "predictor/witness/witness_check.h"

#include <algorithm>
#include <unordered_map>

namespace reweave {
namespace {

// Executes a witness, from the state of the trace after `prefix` events.
class Execution {
 public:
  Execution(const TraceModel& model, ReadRule rule, EventIndex prefix)
      : model_(model),
        rule_(rule),
        prefix_(prefix),
        done_(model.thread_count(), 0),
        tainted_(model.thread_count(), false),
        carrying_(model.thread_count(), false),
        misled_(model.thread_count(), false),
        first_wrong_(model.thread_count()),
        first_(model.thread_count()),
        when_(model.thread_count()),
        now_(prefix) {
    for (std::uint32_t t = 0; t < model.thread_count(); ++t) {
      const auto& events = model.threads[t];
      done_[t] = static_cast<std::uint32_t>(std::lower_bound(events.begin(), events.end(), prefix) - events.begin());
      first_[t] = done_[t];
      for (std::uint32_t n = model.held_after(t, done_[t]); n != 0; n = model.held_nodes[n].parent) {
        take(model.held_nodes[n].acquire);
      }
    }
  }

  Violation step(EventIndex e) {
    if (e >= model_.size() || done_[model_.thread[e]] != model_.position[e]) return {Violation::kBadShape, e, kNone};
    Violation violation = must_order(e);
    if (violation.kind == Violation::kNothing) violation = decide(e);
    if (violation.kind == Violation::kNothing) violation = lock(e);
    if (violation.kind == Violation::kNothing) violation = access(e);
    ++done_[model_.thread[e]];
    when_[model_.thread[e]].push_back(now_++);
    return violation;
  }

  // Checks that the reached state is the one that `query` claims.
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
    if (query.seen_by == kNone) return {};
    const EventIndex write = last_write(model_.object[query.seen_by]).write;
    return write == query.seen ? Violation{} : Violation{Violation::kBadShape, query.seen_by, write};
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
  std::uint32_t when(EventIndex e) const {
    return e < prefix_ ? e : when_[model_.thread[e]][model_.position[e] - first_[model_.thread[e]]];
  }

  void take(EventIndex acquire) {
    Lock& state = locks_[model_.object[acquire]];
    if (model_.is_shared(acquire)) {
      state.shared.push_back(acquire);
    } else {
      state.exclusive = acquire;
    }
  }

  // The last write of `variable` so far; initially that of the prefix.
  Written& last_write(std::uint32_t variable) {
    auto [it, fresh] = last_write_.try_emplace(variable);
    for (std::uint32_t t = 0; fresh && prefix_ > 0 && t < model_.thread_count(); ++t) {
      const EventIndex w = model_.last_before(model_.writes_of[variable], t, first_[t]);
      if (w != kNone && (it->second.write == kNone || w > it->second.write)) it->second.write = w;
    }
    return it->second;
  }

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
    if (!model_.is_shared(e) && !state.shared.empty()) return {Violation::kLockHeld, e, state.shared.front()};
    take(e);
    return {};
  }

  Violation access(EventIndex e) {
    if (!model_.is_access(e)) return {};
    const std::uint32_t t = model_.thread[e];
    Written& last = last_write(model_.object[e]);
    const bool same = !model_.is_read(e) || model_.reads_alike(e, last.write);
    const bool misread = model_.is_read(e) && (!same || last.tainted), blind = model_.is_blind(e);
    if (misread && !blind) {
      const Violation wrong{same ? Violation::kTainted : Violation::kWrongWrite, e, last.write};
      if (model_.is_atomic(e)) return wrong;
      (model_.decides_nothing(e) ? carrying_ : tainted_)[t] = true;
      if (!model_.carries_data(e, rule_)) {
        if (!misled_[t]) first_wrong_[t] = wrong;
        misled_[t] = true;
      }
    }
    if (model_.is_write(e)) last = {e, tainted_[t] || (carrying_[t] && model_.carries(e)) || (misread && blind)};
    return {};
  }

  const TraceModel& model_;
  ReadRule rule_;
  EventIndex prefix_;
  std::vector<std::uint32_t> done_;
  std::vector<bool> tainted_;   // writes other values than in the trace
  std::vector<bool> carrying_;  // likewise, where the value may depend on a read that decides nothing
  std::vector<bool> misled_;    // may not decide anything
  std::vector<Violation> first_wrong_;
  std::unordered_map<std::uint32_t, Written> last_write_;
  std::unordered_map<std::uint32_t, Lock> locks_;
  std::vector<std::uint32_t> first_;              // by thread: position of its first event after the prefix
  std::vector<std::vector<std::uint32_t>> when_;  // by thread, from first_ on
  std::uint32_t now_;
};

}  // namespace

Violation check_witness(const TraceModel& model, const OrderQuery& query, const Reordering& witness) {
  Execution execution(model, query.rule, witness.prefix);
  for (EventIndex e : witness.tail) {
    const Violation violation = execution.step(e);
    if (violation.kind != Violation::kNothing) return violation;
  }
  return execution.finish(query);
}

}  // namespace reweave
