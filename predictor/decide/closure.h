// The smallest order on a feasible set that every correct reordering of it obeys (SeqCheck's trace-closed order).
//
// It holds the threads' own order and the must-order edges, and is closed under two rules:
//   reads: a decided read r of write w comes after w, and any write of another value before w or after r;
//   locks: if a section's acquisition comes before another section's release, the whole section does.
// If a rule needs the end of a critical section that the set does not contain, it appends the section to
// wanted_sections(). The caller then grows the set and calls extend() again.
//
// Departures from the published algorithm: the pair rule of each insertion covers every other pair of threads;
// variables and locks are looked up only in the events that an insertion newly orders; a read of the initial value
// comes before all writes; a read whose value decides nothing may see any write.
//
// Events before `start` (a prefix of the trace) are taken as done, in trace order, so the cost depends on the window,
// not on the trace. Always sound; complete only if `start` is the beginning of the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "predictor/decide/feasible_set.h"
#include "predictor/decide/order_graph.h"
#include "predictor/model/trace_model.h"

namespace reweave {

class Closure {
 public:
  // `start` is per thread; the set must contain it.
  Closure(const TraceModel& model, const FeasibleSet& set, std::vector<std::uint32_t> start);

  // Takes in events that joined the set, and reads that became decided, since the last call.
  void extend();
  // Call this before the first extend(). Leaves out all but the last `events` events of each thread; events that join
  // the set later are taken in. The closed part then belongs to the order of the whole set: a cycle in it proves a
  // cycle in the whole, without a walk over the whole set.
  void only_last(std::uint32_t events);
  // Asks that `a` come before `b`; both are in the set.
  void add(EventIndex a, EventIndex b) {
    if (!left_out(a) && !left_out(b)) queue_.push_back({a, b});
  }
  // Closes the order. False if there is a cycle, so that no reordering exists, or if stopped().
  bool close();
  // Asks `asked` now and then while closing, and gives up if it returns true.
  void stop_when(const std::function<bool()>* asked) { stop_ = asked; }
  bool stopped() const { return stopped_; }

  // The acquisitions of the sections that must end within the set. close() appends to the list; the caller clears it.
  std::vector<EventIndex>& wanted_sections() { return wanted_; }

  bool reaches(EventIndex a, EventIndex b) const;
  const OrderGraph& graph() const { return graph_; }
  std::uint32_t start(std::uint32_t t) const { return start_[t]; }
  bool in_window(EventIndex e) const { return model_.position[e] >= start_[model_.thread[e]]; }
  bool has_work() const { return !queue_.empty(); }
  std::uint64_t work() const { return work_; }

 private:
  struct Pair {
    EventIndex first, second;
  };
  // Positions [from, to) of a thread.
  struct Window {
    std::uint32_t thread, from, to;
    std::uint32_t size() const { return to > from ? to - from : 0; }
  };

  Place place(EventIndex e) const { return {model_.thread[e], model_.position[e]}; }
  bool left_out(EventIndex e) const { return in_window(e) && model_.position[e] < first_[model_.thread[e]]; }
  void take_in_decided(std::uint32_t t, std::uint32_t from);
  void take_in_chains();
  void take_in(EventIndex e);
  void take_in_read(EventIndex r);
  void take_in_write(EventIndex w);
  void take_in_lock(EventIndex e);
  EventIndex last_conflicting(const EventRow& acquires, std::uint32_t t, std::uint32_t end, EventIndex e) const;
  bool insert_all(EventIndex a, EventIndex b);
  void insert(Place a, Place b);
  void apply_rules(const Window& sources, const Window& targets);
  void rules_from(EventIndex e, const Window& sources, const Window& targets);
  void rules_into(EventIndex e, const Window& sources);
  void order_write_read(EventIndex w, EventIndex r);
  void order_write_write(EventIndex w, EventIndex next);
  void order_sections(EventIndex acquire, EventIndex other_acquire);
  void push(EventIndex a, EventIndex b);

  const TraceModel& model_;
  const FeasibleSet& set_;
  std::vector<std::uint32_t> start_;
  std::vector<std::uint32_t> first_;                      // positions before are left out, per thread
  std::vector<std::uint32_t> taken_;                      // events taken in, per thread
  std::vector<FeasibleSet::Bounds> decided_;              // reads taken in as decided, per thread
  std::unordered_map<std::uint32_t, EventIndex> chains_;  // what of a chain was taken in as decided
  std::size_t chains_seen_ = 0;                           // how many of FeasibleSet::raised_chains()
  std::vector<std::uint32_t> active_;                     // threads that have events taken in
  OrderGraph graph_;
  std::vector<Pair> queue_;
  std::vector<Place> sources_, targets_;  // of the insertion under way
  std::vector<EventIndex> wanted_;
  const std::function<bool()>* stop_ = nullptr;
  bool stopped_ = false;
  std::uint64_t work_ = 0;
};

}  // namespace reweave
