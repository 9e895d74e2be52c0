#include "tests/predictor/expected_findings.h"

#include <algorithm>
#include <array>

#include "predictor/model/lockset.h"
#include "predictor/model/shared_units.h"
#include "tests/predictor/oracle.h"

namespace reweave::testing {
namespace {

class Search {
 public:
  explicit Search(const TraceModel& model) : m_(model), oracle_(model), locksets_(model) { oracle_.explore(); }

  Expected all() {
    for (EventIndex a = 0; a < m_.size(); ++a) {
      for (EventIndex b = a + 1; b < m_.size(); ++b) {
        if (!other(a, b)) continue;
        if (data(a) && data(b)) race(a, b);
        deadlock(a, b);
      }
    }
    for (std::uint32_t v = 0; v < m_.variables.size(); ++v) {
      atomicity(v);
      read_before_write(v);
      on_stack(v);
    }
    two_variables();
    for (EventIndex e = 0; e < m_.size(); ++e) {
      if (m_.op[e] == Op::kWait && m_.signals[m_.object[e]].thread == kNone) lost_wakeup(e);
      if (m_.op[e] == Op::kWait) held_across(e);
      if (m_.op[e] == Op::kRead && (m_.flags[e] & kNull) != 0 && !m_.is_atomic(e)) null_use(e);
      if (m_.op[e] == Op::kFree) frees(e);
      if (m_.op[e] == Op::kExit) exits(e);
    }
    return std::move(found_);
  }

  Expected frees_by_both() {
    std::set<std::uint32_t> released;  // blocks
    for (EventIndex f = 0; f < m_.size(); ++f) {
      if (m_.op[f] == Op::kFree && released.insert(m_.object[f]).second) freed_by_both(f);
    }
    return std::move(found_);
  }

  Expected cycles() {
    std::vector<EventIndex> asking;
    for (EventIndex e = 0; e < m_.size(); ++e)
      if (asks(e)) asking.push_back(e);
    for (EventIndex a : asking) {
      for (EventIndex b : asking) {
        for (EventIndex c : asking) {
          if (a > b || a > c || !other(a, b) || !other(b, c) || !other(a, c)) continue;
          if (keeps_waiting(b, a) && keeps_waiting(c, b) && keeps_waiting(a, c)) cycle({a, b, c});
        }
      }
    }
    return std::move(found_);
  }

 private:
  void cycle(std::vector<EventIndex> events) {
    std::sort(events.begin(), events.end());
    add("L1-L2-L3", events, {{}, {events[0], events[1], events[2]}});
  }
  bool asks(EventIndex e) const { return m_.is_acquire(e) || m_.op[e] == Op::kRequest; }

  void add(const std::string& pattern, const std::vector<EventIndex>& events, const OrderQuery& query) {
    if (!(query.sequence.empty() ? oracle_.reaches(query) : oracle_.feasible(query))) return;
    Sites sites;
    for (EventIndex e : events) sites.push_back(m_.site[e]);
    found_[pattern].insert(sites);
  }

  bool other(EventIndex a, EventIndex b) const { return m_.thread[a] != m_.thread[b]; }
  bool conflict(EventIndex a, EventIndex b) const { return m_.is_write(a) || m_.is_write(b); }
  // True for an access that is not the release of a block.
  bool data(EventIndex e) const { return m_.is_access(e) && (m_.flags[e] & kFrees) == 0; }
  bool feasible(const OrderQuery& query) const { return oracle_.feasible(query); }

  void race(EventIndex a, EventIndex b) {
    if (m_.object[a] != m_.object[b] || !conflict(a, b) || (m_.is_atomic(a) && m_.is_atomic(b))) return;
    std::string pattern = "R1-R2";
    if (m_.is_write(a)) pattern[0] = 'W';
    if (m_.is_write(b)) pattern[3] = 'W';
    add(pattern, {a, b}, {{}, {a, b}});
  }

  // True if `e` holds the lock that `wanted` asks for, so that `wanted` has to wait.
  bool keeps_waiting(EventIndex e, EventIndex wanted) const {
    for (std::uint32_t n = m_.held[e]; n != 0; n = m_.held_nodes[n].parent) {
      const EventIndex acquire = m_.held_nodes[n].acquire;
      const bool shared = m_.op[wanted] == Op::kAcquireShared && m_.is_shared(acquire);
      if (m_.object[acquire] == m_.object[wanted] && !shared) return true;
    }
    return false;
  }
  void deadlock(EventIndex a, EventIndex b) {
    if (asks(a) && asks(b) && keeps_waiting(a, b) && keeps_waiting(b, a)) add("L1-L2", {a, b}, {{}, {a, b}});
  }

  // Neighbouring accesses of one thread to `v`, and one access of the other thread between them.
  void atomicity(std::uint32_t v) {
    static const std::set<std::string> kUnserialisable{"R1-W2-W1", "R1-W2-R1", "W1-W2-R1", "W1-R2-W1", "W1-W2-W1"};
    std::map<std::uint32_t, EventIndex> before;  // by thread
    for (EventIndex c = 0; c < m_.size(); ++c) {
      if (!m_.is_access(c) || m_.object[c] != v) continue;
      const auto first = before.find(m_.thread[c]);
      if (first != before.end() && data(first->second) && data(c)) {
        for (EventIndex b = 0; b < m_.size(); ++b) {
          if (!data(b) || m_.object[b] != v || !other(b, c)) continue;
          std::string pattern = "R1-R2-R1";
          if (m_.is_write(first->second)) pattern[0] = 'W';
          if (m_.is_write(b)) pattern[3] = 'W';
          if (m_.is_write(c)) pattern[6] = 'W';
          if (kUnserialisable.contains(pattern)) between(pattern, first->second, b, c);
        }
      }
      before[m_.thread[c]] = c;
    }
  }
  void between(const std::string& pattern, EventIndex a, EventIndex b, EventIndex c) {
    if (!feasible({{b}, {a}}) && !feasible({{c}, {b}})) return;  // always between, so it is intended
    const auto waits = [&](EventIndex e) { return m_.op[e] == Op::kWait && !other(e, a); };
    for (EventIndex e = a; e < c; ++e) {
      if (waits(e) && !m_.is_write(c)) return;  // a wait between, so the thread means to see changes by others
    }
    add(pattern, {a, b, c}, {{a, b}, {m_.is_write(b) ? c : locksets_.entry(c, a)}});
  }

  void read_before_write(std::uint32_t v) {
    const auto writes = m_.writes_of[v];
    if (writes.empty()) return;
    const EventIndex first = *std::min_element(writes.begin(), writes.end());
    if (!data(first)) return;
    for (EventIndex r : m_.reads_of[v]) {
      if (m_.op[r] != Op::kRead || m_.link[r] == kNone || !other(r, first)) continue;
      if (m_.decides_nothing(r) && is_whole_update(r) && is_whole_update(first) && excluded(r, first)) continue;
      if (excluded(r, first) && m_.link[r] == first && !m_.decides_nothing(r)) continue;
      OrderQuery query = {{r}, {first}, ReadRule::kAllDecide, r, kNone};
      if (excluded(r, first)) query = {{}, {r}, ReadRule::kAllDecide, r, kNone};
      add("read-before-write", {r, first}, query);
    }
  }

  // True for a read or write of an update x = f(x) that is in the same sections from the read to the write.
  bool is_whole_update(EventIndex e) const {
    for (const auto& events : m_.threads) {
      EventIndex before = kNone;
      for (EventIndex now : events) {
        if (!m_.is_access(now) || m_.object[now] != m_.object[e]) continue;
        const bool update = before != kNone && (m_.flags[before] & kFeedsWrite) != 0;
        if (update && (e == before || e == now)) return m_.held[before] == m_.held[now];
        before = now;
      }
    }
    return false;
  }
  bool excluded(EventIndex a, EventIndex b) const { return !locksets_.compatible(locksets_.at(a), locksets_.at(b)); }

  void on_stack(std::uint32_t v) {
    const std::uint32_t block = m_.variables[v].block;
    if (block == kNone || !m_.blocks[block].is_stack) return;
    const std::uint32_t owner = m_.blocks[block].nth;
    if (owner >= m_.thread_count() || m_.threads[owner].empty()) return;
    const EventIndex end = m_.threads[owner].back();
    if (m_.op[end] != Op::kEnd) return;
    for (EventIndex e = 0; e < m_.size(); ++e) {
      if (data(e) && m_.object[e] == v && other(e, end)) add("use-after-end", {end, e}, {{end}, {e}});
    }
  }

  // Variables that belong together: one thread accesses x in one unit and y in its next one, or both outside sections.
  // The other thread accesses both in one unit in between.
  void two_variables() {
    const SharedUnits units(m_);
    for (const auto& [a, b] : units.pairs()) {
      for (const Unit& whole : units.units()) {
        const UnitAccess *in_a = whole.find(a), *in_b = whole.find(b);
        if (in_a == nullptr || in_b == nullptr) continue;
        for (std::size_t i = 0; i < units.units().size(); ++i) {
          halves(units.units(), i, a, b, in_a->first, in_b->first);
          halves(units.units(), i, b, a, in_b->first, in_a->first);
        }
      }
    }
  }
  void halves(const std::vector<Unit>& units, std::size_t i, std::uint32_t x, std::uint32_t y, EventIndex other_x,
              EventIndex other_y) {
    const UnitAccess *in_x = units[i].find(x), *in_y = units[i].find(y);
    if (in_x == nullptr) return;
    if (in_y != nullptr) {
      if (units[i].section == kNone && in_x->last < in_y->first) meet(in_x->last, other_x, other_y, in_y->first);
      return;
    }
    for (std::size_t next = i + 1; next < units.size() && units[next].thread == units[i].thread; ++next) {
      if (units[next].find(x) != nullptr) return;
      if (units[next].find(y) != nullptr) return meet(in_x->last, other_x, other_y, units[next].find(y)->first);
    }
  }
  void meet(EventIndex x, EventIndex other_x, EventIndex other_y, EventIndex y) {
    if (!other(x, other_x) || !conflict(x, other_x) || !conflict(y, other_y)) return;
    // Neither conflict can be in the other order, so the program means this order.
    if (!feasible({{other_x}, {x}}) && !feasible({{y}, {other_y}})) return;
    const bool in_order = m_.position[other_x] < m_.position[other_y];
    if (in_order) {
      half_changed({x, other_x, other_y, y}, {x, other_x, other_y});
    } else {
      half_changed({x, other_y, other_x, y}, {x, other_x});
      half_changed({other_y, x, y, other_x}, {other_y, y});
    }
  }
  void half_changed(const std::array<EventIndex, 4>& e, const std::vector<EventIndex>& sequence) {
    std::string pattern = "two variables ";
    for (const EventIndex event : e) {
      pattern += pattern.back() == ' ' ? "" : "-";
      pattern += m_.is_write(event) ? 'W' : 'R';
      pattern += other(event, e[0]) ? '2' : '1';
      pattern += m_.object[event] == m_.object[e[0]] ? 'x' : 'y';
    }
    const EventIndex before = other(e[3], e[0]) ? e[1] : e[0];
    const EventIndex stop = m_.op[e[2]] == Op::kRead ? locksets_.entry(e[3], before) : e[3];
    add(pattern, {e.begin(), e.end()}, {sequence, {stop}});
  }

  void lost_wakeup(EventIndex w) {
    EventIndex last = kNone;  // there are two threads, so one other
    for (EventIndex n = 0; n < m_.size(); ++n) {
      if (m_.op[n] == Op::kNotify && m_.object[n] == m_.object[w] && other(n, w)) last = n;
    }
    if (last != kNone && !idle(w)) add("lost-wake-up", {last, w}, {{last}, {w}});
  }
  // True if the thread was never woken, and the process still ended by itself.
  bool idle(EventIndex w) const {
    const std::uint32_t t = m_.thread[w];
    const bool woken = [&] {
      for (std::uint32_t pos = m_.position[w] + 1; pos + 1 < m_.thread_size(t); ++pos) {
        if (m_.op[m_.at(t, pos)] == Op::kSync) return true;
      }
      return false;
    }();
    return !woken && m_.size() > 0 && m_.op[m_.size() - 1] == Op::kExit;
  }

  void held_across(EventIndex w) {
    EventIndex last = kNone;
    for (EventIndex n : m_.waking_of[m_.object[w]]) {
      if (other(n, w)) last = n;
    }
    if (last == kNone) return;
    for (std::uint32_t node = m_.held[w]; node != 0; node = m_.held_nodes[node].parent) {
      const EventIndex mine = m_.held_nodes[node].acquire;
      if (m_.link[mine] != kNone && m_.source[m_.link[mine]] == m_.source[w]) continue;  // the wait releases it
      for (EventIndex b = 0; b < m_.size(); ++b) {
        if (!m_.is_acquire(b) || m_.object[b] != m_.object[mine] || !other(b, w)) continue;
        if (m_.position[b] >= m_.position[last] || (m_.is_shared(b) && m_.is_shared(mine))) continue;
        add("wait-L2", {w, b}, {{}, {w, b}});
      }
    }
  }

  void null_use(EventIndex r) {
    if (m_.variables[m_.object[r]].bytes != 8) return;
    if (m_.link[r] != kNone && (m_.flags[m_.link[r]] & kNull) != 0) return;  // it read null and continued
    for (EventIndex w : m_.writes_of[m_.object[r]]) {
      if (m_.op[w] != Op::kWrite || (m_.flags[w] & kNull) == 0 || !other(w, r)) continue;
      add("null-use", {w, r}, {{w}, {r}, ReadRule::kAllDecide, r, w});
    }
  }

  void frees(EventIndex f) {
    for (EventIndex g = f + 1; g < m_.size(); ++g) {
      const bool again = m_.op[g] == Op::kFree && m_.object[g] == m_.object[f] && other(g, f);
      if (again) add("double-free", {f, g}, {{f}, {g}});
    }
    for (std::uint32_t v = 0; v < m_.variables.size(); ++v) {
      if (m_.variables[v].block == m_.object[f]) used_after(v);
    }
  }
  // The thread of `f` takes a pointer before it resets the variable and frees; the other thread runs the same code.
  void freed_by_both(EventIndex f) {
    for (const EventIndex reset : m_.threads[m_.thread[f]]) {
      if (m_.op[reset] != Op::kWrite || (m_.flags[reset] & kNull) == 0) continue;
      EventIndex taken = kNone;
      for (const EventIndex e : m_.threads[m_.thread[f]]) {
        if (e < std::min(reset, f) && m_.is_read(e) && m_.object[e] == m_.object[reset]) taken = e;
      }
      if (taken == kNone || m_.op[taken] != Op::kRead || m_.is_atomic(taken)) continue;
      for (const EventIndex r : m_.reads_of[m_.object[taken]]) {
        if (m_.op[r] != Op::kRead || !other(r, taken) || m_.site[r] != m_.site[taken]) continue;
        add("freed-by-both", {taken, r, reset, f}, {{taken}, {reset, r}, ReadRule::kAllDecide, r, m_.link[taken]});
      }
    }
  }
  void used_after(std::uint32_t v) {
    for (EventIndex f : m_.writes_of[v]) {
      if ((m_.flags[f] & kFrees) == 0) continue;
      for (EventIndex e = 0; e < m_.size(); ++e) {
        if (!m_.is_access(e) || m_.object[e] != v || !other(e, f) || (m_.flags[e] & kFrees) != 0) continue;
        add("use-after-free", {f, e}, {{f}, {e}});
      }
    }
  }

  void exits(EventIndex x) {
    for (std::uint32_t t = 0; t < m_.thread_count(); ++t) {
      const auto& events = m_.threads[t];
      if (t == m_.thread[x] || events.empty() || m_.op[events.back()] != Op::kEnd) continue;
      for (auto e = events.rbegin(); e != events.rend(); ++e) {
        if (!m_.is_write(*e) || (m_.flags[*e] & kFrees) != 0) continue;
        add("exit-before-write", {x, *e}, {{x}, {*e}});
        break;
      }
    }
  }

  const TraceModel& m_;
  Oracle oracle_;
  Locksets locksets_;
  Expected found_;
};

}  // namespace

Expected expected_findings(const TraceModel& model) { return Search(model).all(); }

Expected expected_frees_by_both(const TraceModel& model) { return Search(model).frees_by_both(); }

Expected expected_cycles(const TraceModel& model) { return Search(model).cycles(); }

}  // namespace reweave::testing
