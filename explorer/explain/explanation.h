// The explanation of a failure: the results of interventions in its schedule. All forms of a report (text, JSON, HTML)
// show only this.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign/assumption.h"
#include "explorer/explain/deadlock.h"
#include "explorer/explain/rate.h"
#include "explorer/explain/way/value_way.h"
#include "explorer/run/events.h"
#include "explorer/run/run.h"

namespace reweave {

// True if two addresses are code of the same statement. A function may have several copies, where it is inlined.
using SamePlace = std::function<bool(std::uint64_t, std::uint64_t)>;

// A pair of events whose order was changed.
struct Flip {
  EventPair pair;                    // as in the failing run
  std::optional<BrokenBlock> block;  // the atomic block that the pair breaks
  bool block_tells = false;  // forcing the block fails at least as often as the pair; `forced` is then the block's rate
  Rate reversed;             // the failing schedule up to the pair, the pair reversed, then any ending: does it pass?
  Rate forced;               // this order in otherwise random schedules: is it sufficient?
  Rate avoided;              // the other order in otherwise random schedules

  bool is_necessary() const { return reversed.never(); }
  // True if the order was shown to make a difference.
  bool is_decisive(const Rate& base) const { return is_necessary() || makes_failure(base); }
  // True if the order was shown to make random schedules fail, and the failing schedule is no exception.
  bool makes_failure(const Rate& base) const { return is_measured(base) && !reversed.always(); }
  // True if the order makes random schedules fail.
  bool is_measured(const Rate& base) const { return makes_fail(forced, avoided, base); }
};

// True if the failure is a memory error and the pair is a release and a use that the run reached. That is the cause by
// definition, unless the run also fails in the other order, for example because of a second release.
inline bool is_release_before_use(const Flip& flip, const RunResult& failing) {
  return failing.outcome == wire::OutcomeKind::kMemoryError && is_release(flip.pair.first.note) &&
         !flip.pair.then.is_beyond && !flip.reversed.always();
}

// Two or three orders that cause the failure only together: random schedules with all of them fail more often than
// other random schedules, and more often than with any one of the orders reversed.
struct OrderSet {
  struct Member {
    EventPair pair;  // as in the failing run
    Rate broken;     // random schedules with this pair reversed and the others in order; empty if that is not feasible
  };
  std::vector<Member> members;  // in the order of their first events in the failing run
  Rate forced;                  // random schedules with all orders
};

// The rate of failures among runs that follow the failing schedule up to a choice and then continue at random.
struct CurvePoint {
  std::size_t choice;
  Rate rate;
};

// An access pattern and the number of runs with it (Falcon: Park, Vuduc, Harrold, ICSE 2010).
struct RankedPattern {
  std::vector<ChoiceNote> accesses;  // two or three, in order; `thread` only distinguishes the threads of the pattern
  std::uint64_t failed = 0, passed = 0;
  std::uint64_t of_failed = 0;      // all failing runs, with or without the pattern
  double suspiciousness = 0;        // Jaccard
  std::size_t best = 1, worst = 1;  // its rank if patterns with equal suspiciousness come after it or before it
};

// The change with which a developer makes an assumption true.
enum class Advice : std::uint8_t {
  kWait,        // wait before `end` until `begin` was executed
  kWaitForAll,  // wait before `end` until every thread has executed `begin`
  kWaitForUse,  // wait before `end`, a release, until every thread that executes `begin` has made its last use
  kHoldOver,    // hold one lock over the code from `begin` to `end`, and over the other block
  kHoldAround,  // hold the lock that is held from `begin` to `end` around the other block too
  kSwap,        // execute `end` before `begin`
  kLockOrder,   // take the locks of the cycle in one order everywhere
};

// Code that one thread executes.
struct ThreadCode {
  Event begin, end;
};

// An assumption under which runs were made, and the advice that follows if none of them failed.
struct Remedy {
  Advice advice;
  Event begin, end;
  std::optional<ThreadCode> other = {};  // of another thread
  AssumedCode code = {};                 // the assumption; empty if it is about the events of single threads
  HeldGoals held = {};                   // what enforces the assumption
  Rate rate = {};                        // random schedules under the assumption
  Rate near = {};  // schedules that begin like the failing one, under the assumption; may be empty

  // False if a tenth of the runs could not keep the assumption: a program that follows the advice might deadlock.
  bool is_feasible() const { return rate.tried != 0 && rate.let_go * 10 <= rate.tried; }
  bool works() const { return is_feasible() && rate.never() && near.failed == 0; }
};

struct HeapBlock {
  std::uint64_t address = 0, bytes = 0;
  std::vector<std::uint64_t> allocated;  // the code that allocated it, then its callers
};

// Additional facts about an event.
struct EventContext {
  std::vector<std::uint64_t> callers;  // return addresses, innermost first
  std::optional<HeapBlock> block;      // the block that it uses
  std::string variable;  // name of its object, by a variable that was live then: "pool->jobs"; empty if not known
};

struct Explanation {
  RunResult failing;  // observed
  std::string outcome, last_words;
  std::string recorded_outcome;              // how the recording ended, if the repeated run ended in another way
  std::string block;                         // block_text() of a memory error; empty if not known
  std::optional<RunResult> passing;          // the nearest passing run; none if no run passed
  std::vector<LockWait> deadlock;            // the cycle in which the run ended; empty if there is none
  Rate base;                                 // random schedules
  std::vector<Flip> flips;                   // the cause first
  std::optional<OrderSet> together;          // set if several orders fail more often than any single order
  std::size_t pairs = 0;                     // pairs that the nearest passing run reorders; `flips` has the first ones
  std::map<Arrival, EventContext> contexts;  // by the events that the report names (events_named)
  ValueWay way;                              // the history of the value with which the run failed
  std::vector<CurvePoint> curve;
  std::vector<RankedPattern> patterns;  // most suspicious first
  std::vector<Remedy> remedies;         // tried remedies, smallest first
  std::uint64_t runs = 0;               // runs made for the explanation
  bool out_of_time = false;             // true if some experiments were left out
  std::vector<std::string> notes;       // what was not examined, and why

  // True if orders were shown to make random schedules fail, or the first flip needs no proof.
  bool cause_is_shown() const {
    if (together) return true;
    if (flips.empty()) return false;
    return flips.front().makes_failure(base) || is_release_before_use(flips.front(), failing);
  }
  // True if the failing schedule passes without the order of the first flip, although no cause was shown.
  bool only_needs_order() const { return !cause_is_shown() && !flips.empty() && flips.front().is_necessary(); }
  // The failures of all points of the curve: schedules that begin like the failing one.
  Rate near() const;
  // True if runs fail significantly less often under the remedy: random ones or, if these hardly ever fail, those that
  // begin like the failing one.
  bool is_shown(const Remedy& remedy) const {
    if (!remedy.is_feasible() || remedy.near.failed != 0) return false;
    return fails_more(base, remedy.rate) || (remedy.rate.never() && fails_more(near(), remedy.near));
  }
  // Index of the first point of the curve from which the failure was always reached; nothing if there is no such point.
  std::optional<std::size_t> inevitable() const;
};

}  // namespace reweave
