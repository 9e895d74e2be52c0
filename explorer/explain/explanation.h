// Why a run fails: what interventions in its schedule have shown. All faces of a report (text, JSON, HTML) show this
// and nothing else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explorer/assumption.h"
#include "explorer/events.h"
#include "explorer/explain/deadlock.h"
#include "explorer/explain/rate.h"
#include "explorer/explain/way/value_way.h"
#include "explorer/run.h"

namespace reweave {

// A pair of events whose order was changed.
struct Flip {
  EventPair pair;                    // as in the failing run
  std::optional<BrokenBlock> block;  // that the pair breaks
  bool block_tells = false;  // forcing it makes at least as many runs fail as forcing the pair: `forced` is of it
  Rate reversed;  // failing schedule up to there, then the other order, then anything: does it pass without the pair?
  Rate forced;    // this order in otherwise random schedules: does it suffice?
  Rate avoided;   // the other order in otherwise random schedules

  bool is_necessary() const { return reversed.never(); }
  // It was shown that the order makes a difference.
  bool is_decisive(const Rate& base) const { return is_necessary() || (is_measured(base) && !reversed.always()); }
  // Random schedules fail more often with it than with the other order, or, if that is not feasible, than without any.
  bool is_measured(const Rate& base) const { return fails_more(forced, avoided.tried == 0 ? base : avoided); }
};

// Where a use after free is the failure, the release before the use is its cause by definition; unless the run fails
// all the same with the other order, as with a second release.
inline bool is_release_before_use(const Flip& flip, const RunResult& failing) {
  return failing.outcome == wire::OutcomeKind::kMemoryError && is_release(flip.pair.first.note) &&
         !flip.reversed.always();
}

// How likely the failure is once the failing schedule was followed up to a choice, if anything may happen then.
struct CurvePoint {
  std::size_t choice;
  Rate rate;
};

// An access pattern, and in how many runs it occurred (Falcon: Park, Vuduc, Harrold, ICSE 2010).
struct RankedPattern {
  std::vector<ChoiceNote> accesses;  // two or three, in order; `thread` tells equal threads from others, no more
  std::uint64_t failed = 0, passed = 0;
  std::uint64_t of_failed = 0;      // failing runs, with and without it
  double suspiciousness = 0;        // Jaccard
  std::size_t best = 1, worst = 1;  // its ranks, if those that tie are ordered for and against it
};

// An assumption under which the search was repeated.
struct Remedy {
  bool is_region;  // begin to end are not interrupted; else `end` comes only after `begin`
  Event begin, end;
  AssumedCode code;
  Rate rate;
};

struct HeapBlock {
  std::uint64_t address = 0, bytes = 0;
  std::vector<std::uint64_t> allocated;  // where: code, then its callers
};

// What is known of an event beyond its own code.
struct EventContext {
  std::vector<std::uint64_t> callers;  // return addresses, innermost first
  std::optional<HeapBlock> block;      // that it uses
  std::string variable;  // what it uses, by a variable of that instant: "pool->jobs"; empty if none is known
};

struct Explanation {
  RunResult failing;  // observed
  std::string outcome, last_words;
  std::optional<RunResult> passing;          // the nearest; nothing: none passed
  std::vector<LockWait> deadlock;            // the cycle that the run ended in; empty: there is none
  Rate base;                                 // random schedules
  std::vector<Flip> flips;                   // the cause first
  std::size_t pairs = 0;                     // reordered in the nearest passing run; flips has the first of them
  std::map<Arrival, EventContext> contexts;  // of events of the deadlock and the flips
  ValueWay way;                              // of the value with which the run failed
  std::vector<CurvePoint> curve;
  std::vector<RankedPattern> patterns;  // most suspicious first
  std::vector<Remedy> remedies;         // that were tried, smallest first
  std::uint64_t runs = 0;               // made for all this
  bool out_of_time = false;             // something was left out
  std::vector<std::string> notes;       // what was not examined, and why

  // The first flip was shown to matter, or needs no proof.
  bool cause_is_shown() const {
    if (flips.empty()) return false;
    return flips.front().is_decisive(base) || is_release_before_use(flips.front(), failing);
  }
  // Index of the curve's point from which on the failure could not be avoided; nothing: there is no such point.
  std::optional<std::size_t> inevitable() const;
};

}  // namespace reweave
