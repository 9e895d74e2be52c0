#include "tests/predictor/plants.h"

namespace reweave::testing {
namespace {

using enum EventKind;

// Builds a design: its pieces, and their events, whose sites are consecutive.
class Draft {
 public:
  Draft(const PlantSpace& space, FindingKind kind, bool feasible) : space_(space) {
    design_.plant.kind = kind;
    design_.plant.feasible = feasible;
  }

  Draft& piece(std::uint32_t actor, bool late = false) {
    design_.pieces.push_back({actor, late, {}});
    as_ = actor;
    return *this;
  }
  Draft& as(std::uint32_t actor) {
    as_ = actor;
    return *this;
  }
  Draft& lock(std::uint32_t n) { return add(kLock, space_.locks + n * 8, 0, 0); }
  Draft& unlock(std::uint32_t n) { return add(kUnlock, space_.locks + n * 8, 0, 0); }
  Draft& lock_shared(std::uint32_t n) { return add(kLock, space_.locks + n * 8, 0, 1); }
  Draft& unlock_shared(std::uint32_t n) { return add(kUnlock, space_.locks + n * 8, 0, 1); }
  Draft& read(std::uint32_t n) { return add(kRead, space_.variables + n * 8, 8, 0); }
  Draft& write(std::uint32_t n) { return add(kWrite, space_.variables + n * 8, 8, 0); }
  Draft& set(std::uint32_t n) { return add(kAtomicStore, space_.variables + n * 8, 8, 5); }
  Draft& get(std::uint32_t n) { return add(kAtomicLoad, space_.variables + n * 8, 8, 5); }
  Draft& follow(std::uint32_t n) { return add(kRead, space_.variables + n * 8, 8, kNullValue); }
  Draft& reset(std::uint32_t n) { return add(kWrite, space_.variables + n * 8, 8, kNullValue); }
  // Condition variable n has the address of lock n. Waits use lock 0.
  Draft& wait(std::uint32_t n) { return add(kWaitBegin, space_.locks + n * 8, space_.locks, 0); }
  Draft& woken(std::uint32_t n) { return add(kWaitEnd, space_.locks + n * 8, space_.locks, 0); }
  Draft& notify(std::uint32_t n) { return add(kNotify, space_.locks + n * 8, 0, 0); }
  Draft& branch() { return space_.branches ? add(kBranch, 0, 0, 0) : *this; }
  Draft& other(EventKind kind, std::uint64_t address, std::uint64_t extra) { return add(kind, address, extra, 0); }
  // The event just added is part of the bug.
  Draft& mark() {
    design_.plant.sites.push_back(next_ - 1);
    return *this;
  }
  PlantDesign done() { return std::move(design_); }

 private:
  Draft& add(EventKind kind, std::uint64_t address, std::uint64_t extra, std::uint8_t aux) {
    design_.pieces.back().events.push_back({as_, {address, next_, extra, 0, kind, aux}});
    ++next_;
    return *this;
  }

  const PlantSpace& space_;
  PlantDesign design_;
  std::uint32_t as_ = 0;
  std::uint32_t next_ = space_.site;
};

constexpr auto kRace = FindingKind::kRace;
constexpr auto kDeadlock = FindingKind::kDeadlock;
constexpr auto kAtomicity = FindingKind::kAtomicity;
constexpr auto kOrder = FindingKind::kOrder;

// --- races ---

PlantDesign race_behind_empty_section(const PlantSpace& s) {
  return Draft(s, kRace, true)
      .piece(0)
      .write(0)
      .mark()
      .lock(0)
      .unlock(0)
      .piece(1, true)
      .lock(0)
      .unlock(0)
      .write(0)
      .mark()
      .done();
}
PlantDesign race_not_decided(const PlantSpace& s) {
  Draft d(s, kRace, s.branches);
  d.piece(0).write(0).mark().lock(0).write(1).unlock(0);
  // Uses a new thread, because a later branch of an existing thread would order other plants.
  d.piece(1, true).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0);
  return d.lock(0).read(1).unlock(0).write(0).mark().branch().other(kEnd, 0, 0).done();
}
PlantDesign race_reversed_sections(const PlantSpace& s) {
  Draft d(s, kRace, true);
  d.piece(0).lock(0).write(0).mark().unlock(0);
  return d.piece(1, true).lock(0).write(1).unlock(0).write(0).mark().done();
}
PlantDesign race_both_locked(const PlantSpace& s) {
  Draft d(s, kRace, false);
  d.piece(0).lock(0).write(0).mark().unlock(0);
  return d.piece(1, true).lock(0).write(0).mark().unlock(0).done();
}
PlantDesign race_after_flag(const PlantSpace& s) {
  return Draft(s, kRace, false).piece(0).write(0).mark().set(1).piece(1, true).get(1).read(0).mark().done();
}
PlantDesign race_after_branch(const PlantSpace& s) {
  Draft d(s, kRace, false);
  d.piece(0).write(0).mark().lock(0).write(1).unlock(0);
  return d.piece(1, true).lock(0).read(1).branch().unlock(0).write(0).mark().done();
}
// The write that is read precedes the racing access of its thread. So only the order of whole sections orders the two.
PlantDesign race_after_section(const PlantSpace& s) {
  Draft d(s, kRace, false);
  d.piece(0).lock(0).write(1).write(0).mark().unlock(0);
  return d.piece(1, true).lock(0).read(1).branch().unlock(0).write(0).mark().done();
}
PlantDesign race_started_later(const PlantSpace& s) {
  Draft d(s, kRace, false);
  d.piece(0).write(0).mark();
  d.piece(0, true).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).write(0).mark().other(kEnd, 0, 0);
  return d.as(0).other(kJoin, 0, s.started).done();
}
PlantDesign race_joined_before(const PlantSpace& s) {
  Draft d(s, kRace, false);
  d.piece(0).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).write(0).mark().other(kEnd, 0, 0);
  return d.piece(0, true).other(kJoin, 0, s.started).write(0).mark().done();
}

// --- deadlocks ---

PlantDesign deadlock(const PlantSpace& s) {
  Draft d(s, kDeadlock, true);
  d.piece(0).lock(0).lock(1).mark().unlock(1).unlock(0);
  return d.piece(1, true).lock(1).lock(0).mark().unlock(0).unlock(1).done();
}
PlantDesign deadlock_three(const PlantSpace& s) {
  Draft d(s, kDeadlock, true);
  d.piece(0).lock(0).lock(1).mark().unlock(1).unlock(0);
  d.piece(1).lock(1).lock(2).mark().unlock(2).unlock(1);
  return d.piece(2, true).lock(2).lock(0).mark().unlock(0).unlock(2).done();
}
PlantDesign deadlock_reversed_sections(const PlantSpace& s) {
  Draft d(s, kDeadlock, true);
  d.piece(0).lock(2).lock(0).lock(1).mark().unlock(1).unlock(0).unlock(2);
  return d.piece(1, true).lock(2).write(0).unlock(2).lock(1).lock(0).mark().unlock(0).unlock(1).done();
}
PlantDesign deadlock_shared(const PlantSpace& s) {
  Draft d(s, kDeadlock, true);
  d.piece(0).lock_shared(0).lock(1).mark().unlock(1).unlock_shared(0);
  return d.piece(1, true).lock(1).lock(0).mark().unlock(0).unlock(1).done();
}
PlantDesign deadlock_both_shared(const PlantSpace& s) {
  Draft d(s, kDeadlock, false);
  d.piece(0).lock_shared(0).lock(1).mark().unlock(1).unlock_shared(0);
  return d.piece(1, true).lock(1).lock_shared(0).mark().unlock_shared(0).unlock(1).done();
}
PlantDesign deadlock_gated(const PlantSpace& s) {
  Draft d(s, kDeadlock, false);
  d.piece(0).lock(2).lock(0).lock(1).mark().unlock(1).unlock(0).unlock(2);
  return d.piece(1, true).lock(2).lock(1).lock(0).mark().unlock(0).unlock(1).unlock(2).done();
}
PlantDesign deadlock_after_branch(const PlantSpace& s) {
  Draft d(s, kDeadlock, false);
  d.piece(0).lock(0).lock(1).mark().unlock(1).unlock(0).write(0);
  return d.piece(1, true).read(0).branch().lock(1).lock(0).mark().unlock(0).unlock(1).done();
}

// --- atomicity ---

PlantDesign check_then_act(const PlantSpace& s) {
  Draft d(s, kAtomicity, true);
  d.piece(0).lock(0).read(0).mark().branch().unlock(0).lock(0).write(0).mark().unlock(0);
  return d.piece(1, true).lock(0).write(0).mark().unlock(0).done();
}
PlantDesign read_twice(const PlantSpace& s) {
  Draft d(s, kAtomicity, true);
  d.piece(0).read(0).mark().branch().read(0).mark();
  return d.piece(1, true).write(0).mark().done();
}
PlantDesign one_section(const PlantSpace& s) {
  Draft d(s, kAtomicity, false);
  d.piece(0).lock(0).read(0).mark().write(0).mark().unlock(0);
  return d.piece(1, true).lock(0).write(0).mark().unlock(0).done();
}
PlantDesign two_sections_after_flag(const PlantSpace& s) {
  Draft d(s, kAtomicity, false);
  d.piece(0).lock(0).read(0).mark().unlock(0).lock(0).write(0).mark().unlock(0).set(1);
  return d.piece(1, true).get(1).lock(0).write(0).mark().unlock(0).done();
}

// --- order ---

PlantDesign use_after_free(const PlantSpace& s) {
  Draft d(s, kOrder, true);
  d.piece(0).other(kAlloc, s.variables, 32).write(1);
  d.piece(1).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).read(1).mark().other(kEnd, 0, 0);
  return d.piece(0, true).other(kFree, s.variables, 0).mark().done();
}
PlantDesign freed_after_flag(const PlantSpace& s) {
  Draft d(s, kOrder, false);
  d.piece(0).other(kAlloc, s.variables, 32).write(1);
  d.piece(1).read(1).mark().set(7);
  return d.piece(0, true).get(7).other(kFree, s.variables, 0).mark().done();
}

PlantDesign lost_wakeup(const PlantSpace& s) {
  Draft d(s, kOrder, true);
  d.piece(0).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).lock(0).wait(1).mark();
  return d.piece(1, true).lock(0).notify(1).mark().unlock(0).as(3).woken(1).unlock(0).other(kEnd, 0, 0).done();
}
PlantDesign looked_before_wait(const PlantSpace& s) {
  Draft d(s, kOrder, false);
  d.piece(0).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).lock(0).read(0).branch().wait(1).mark();
  d.piece(1, true).lock(0).write(0).notify(1).mark().unlock(0);
  return d.as(3).woken(1).unlock(0).other(kEnd, 0, 0).done();
}
PlantDesign null_use(const PlantSpace& s) {
  return Draft(s, kOrder, true).piece(0).follow(0).mark().piece(1, true).reset(0).mark().done();
}
PlantDesign reset_after_flag(const PlantSpace& s) {
  return Draft(s, kOrder, false).piece(0).follow(0).mark().set(1).piece(1, true).get(1).reset(0).mark().done();
}

// --- waits, two variables ---

PlantDesign lock_across_wait(const PlantSpace& s) {
  Draft d(s, kDeadlock, true);
  d.piece(1).lock(2).mark().unlock(2);
  d.piece(0).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).lock(2).lock(0).wait(1).mark();
  d.piece(1, true).lock(0).notify(1).unlock(0);
  return d.as(3).woken(1).unlock(0).unlock(2).other(kEnd, 0, 0).done();
}
PlantDesign lock_let_go_before_wait(const PlantSpace& s) {
  Draft d(s, kDeadlock, false);
  d.piece(1).lock(2).mark().unlock(2);
  d.piece(0).other(kFork, 0, s.started).as(3).other(kBegin, 0, 0).lock(2).unlock(2).lock(0).wait(1).mark();
  d.piece(1, true).lock(0).notify(1).unlock(0);
  return d.as(3).woken(1).unlock(0).other(kEnd, 0, 0).done();
}
PlantDesign two_variables(const PlantSpace& s) {
  Draft d(s, kAtomicity, true);
  d.piece(0).lock(0).write(0).mark().unlock(0).lock(0).write(1).mark().unlock(0);
  d.piece(1, true).lock(0).write(0).mark().write(1).mark().unlock(0);
  return d.lock(0).write(0).write(1).unlock(0).done();
}
PlantDesign two_variables_in_one_section(const PlantSpace& s) {
  Draft d(s, kAtomicity, false);
  d.piece(0).lock(0).write(0).mark().write(1).mark().unlock(0);
  d.piece(1, true).lock(0).write(0).mark().write(1).mark().unlock(0);
  return d.lock(0).write(0).write(1).unlock(0).done();
}

constexpr PlantRow kRows[] = {
    {"race behind an empty section", 2, false, race_behind_empty_section},
    {"race: what was read decided nothing", 2, false, race_not_decided},
    {"race with sections reversed", 2, false, race_reversed_sections},
    {"both under one lock", 2, false, race_both_locked},
    {"ordered by an atomic flag", 2, true, race_after_flag},
    {"ordered by a branch", 2, true, race_after_branch},
    {"ordered by a whole section", 2, true, race_after_section},
    {"thread started later", 2, false, race_started_later},
    {"thread joined before", 2, false, race_joined_before},
    {"lock inversion", 2, false, deadlock},
    {"lock inversion of three threads", 3, false, deadlock_three},
    {"lock inversion, sections reversed", 2, false, deadlock_reversed_sections},
    {"lock inversion with a reader", 2, false, deadlock_shared},
    {"lock inversion of readers", 2, false, deadlock_both_shared},
    {"lock inversion behind a gate", 2, false, deadlock_gated},
    {"lock inversion after a branch", 2, true, deadlock_after_branch},
    {"check, then act", 2, false, check_then_act},
    {"read twice", 2, false, read_twice},
    {"one section", 2, false, one_section},
    {"two sections, ordered by a flag", 2, true, two_sections_after_flag},
    {"use after free", 2, false, use_after_free},
    {"freed after the last use", 2, true, freed_after_flag},
    {"lost wake-up", 2, false, lost_wakeup},
    {"looked before the wait", 2, false, looked_before_wait},
    {"null after reset", 2, false, null_use},
    {"reset after the last use", 2, true, reset_after_flag},
    {"lock held across a wait", 2, false, lock_across_wait},
    {"lock let go before the wait", 2, false, lock_let_go_before_wait},
    {"two variables, two sections", 2, false, two_variables},
    {"two variables, one section", 2, false, two_variables_in_one_section},
};

}  // namespace

std::span<const PlantRow> plant_rows() { return kRows; }

}  // namespace reweave::testing
