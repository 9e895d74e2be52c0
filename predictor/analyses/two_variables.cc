// Atomicity violations over two variables that belong together: thread 1 accesses one of them and then, in another
// unit, the other; thread 2 accesses both in between, or the second before and the first after. SharedUnits learns
// which variables belong together (shared_units.h). Patterns after Vaziri, Tip, Dolby (POPL 2006): thread 1 comes first
// for one variable and last for the other, so no serial order of the two has the same effect.
//
// Sound as an ordering: the witness executes all but the last access and stops before that. Missed: pairs of objects
// that occur only once, and instances beyond the sampled ones. Cost: one pass over the accesses; per pair a bounded
// number of look-ups.
#include <algorithm>
#include <array>

#include "predictor/analyses/rows.h"
#include "predictor/model/shared_units.h"

namespace reweave {
namespace {

constexpr std::uint32_t kMostBetweenHalves = 256;  // events of the thread between the halves
constexpr std::size_t kMostHalves = 24;            // per pair of variables
constexpr std::size_t kMostWholes = 24;

// One thread's access to the first variable in one unit, and to the second in its next unit that touches either
// variable.
struct Halves {
  EventIndex first, second;
};

// One thread's accesses to both in one unit.
struct Whole {
  EventIndex first, second;  // to the variables that Halves::first and second access
};

class TwoVariables : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    const SharedUnits units(input.model);
    for (const auto& [a, b] : units.pairs()) {
      if (input.expired()) break;
      pair(input, units, a, b);
      pair(input, units, b, a);
    }
    return groups_.take();
  }

 private:
  // Thread 1 accesses x, then y.
  void pair(const AnalysisInput& in, const SharedUnits& units, std::uint32_t x, std::uint32_t y) {
    std::vector<std::uint32_t> touching;
    std::set_union(units.units_of(x).begin(), units.units_of(x).end(), units.units_of(y).begin(),
                   units.units_of(y).end(), std::back_inserter(touching));
    std::vector<Halves> halves;
    std::vector<Whole> wholes;
    const Unit* before = nullptr;
    for (const std::uint32_t u : touching) {
      const Unit& unit = units.units()[u];
      if (before != nullptr && before->thread != unit.thread) before = nullptr;
      const UnitAccess *in_x = unit.find(x), *in_y = unit.find(y);
      if (in_x && in_y && wholes.size() < kMostWholes) wholes.push_back({in_x->first, in_y->first});
      if (in_x && in_y && unit.section == kNone) add(in.model, halves, in_x->last, in_y->first);
      if (!in_x && before != nullptr && before->find(y) == nullptr) {
        add(in.model, halves, before->find(x)->last, in_y->first);
      }
      before = &unit;
    }
    for (const Halves& h : halves) {
      for (const Whole& w : wholes) consider(in, h, w);
    }
  }

  static void add(const TraceModel& m, std::vector<Halves>& halves, EventIndex first, EventIndex second) {
    const bool near = first < second && m.position[second] - m.position[first] <= kMostBetweenHalves;
    if (near && halves.size() < kMostHalves) halves.push_back({first, second});
  }

  void consider(const AnalysisInput& in, const Halves& h, const Whole& w) {
    const TraceModel& m = in.model;
    const auto conflict = [&](EventIndex a, EventIndex b) { return m.is_write(a) || m.is_write(b); };
    if (m.thread[h.first] == m.thread[w.first] || !conflict(h.first, w.first) || !conflict(h.second, w.second)) return;
    if (in.order.ordered(w.first, h.first) || in.order.ordered(h.second, w.second)) return;
    // The accesses always come in this order, so it is intended.
    if (in.order.ordered(h.first, w.first) && in.order.ordered(w.second, h.second)) return;
    const bool in_order = m.position[w.first] < m.position[w.second];
    if (in_order) {
      report(in, {h.first, w.first, w.second, h.second}, {h.first, w.first, w.second});
      return;
    }
    report(in, {h.first, w.second, w.first, h.second}, {h.first, w.first});
    report(in, {w.second, h.first, h.second, w.first}, {w.second, h.second});
  }

  // Adds a finding of `events`. Its witness executes `sequence` and then stops the thread of the last event before that
  // event, or before the critical section around it.
  void report(const AnalysisInput& in, const std::array<EventIndex, 4>& events,
              const std::vector<EventIndex>& sequence) {
    const TraceModel& m = in.model;
    std::string pattern = "two variables ";
    GroupTable::Key key;
    int writes = 0;
    for (const EventIndex e : events) {
      pattern += pattern.back() == ' ' ? "" : "-";
      pattern += m.is_write(e) ? 'W' : 'R';
      pattern += m.thread[e] == m.thread[events[0]] ? '1' : '2';
      pattern += m.object[e] == m.object[events[0]] ? 'x' : 'y';
      key.push_back(m.site[e]);
      key.push_back(m.is_write(e) ? 1 : 0);
      writes += m.is_write(e) ? 1 : 0;
    }
    Group& group = groups_.group(key);
    group.kind = FindingKind::kAtomicity;
    group.pattern = pattern;
    const bool locked = in.locksets.at(events[0]) != 0 && in.locksets.at(events[3]) != 0;
    group.score = std::max(group.score, 1.3 + 0.1 * writes + (locked ? 0.3 : 0.0));
    // A thread that has read a half-made change may act on it and never leave its critical section. So the witness ends
    // before the other thread needs that section's lock.
    const EventIndex before = m.thread[events[0]] == m.thread[events[3]] ? events[0] : events[1];
    const bool last_reads = m.op[events[2]] == Op::kRead;
    const EventIndex stop = last_reads ? in.locksets.entry(events[3], before) : events[3];
    GroupTable::add(group, {{events.begin(), events.end()}, {sequence, {stop}}});
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_two_variables() { return std::make_unique<TwoVariables>(); }

}  // namespace reweave
