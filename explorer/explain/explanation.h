// Why a run fails: what interventions in its schedule have shown. All faces of a report (text, JSON, HTML) show this
// and nothing else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explorer/events.h"
#include "explorer/explain/deadlock.h"
#include "explorer/explain/rate.h"
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
};

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
  std::vector<CurvePoint> curve;
  std::vector<RankedPattern> patterns;  // most suspicious first
  std::vector<Remedy> remedies;         // that were tried, smallest first
  std::uint64_t runs = 0;               // made for all this
  bool out_of_time = false;             // something was left out
  std::vector<std::string> notes;       // what was not examined, and why

  // Index of the curve's point from which on the failure could not be avoided; nothing: there is no such point.
  std::optional<std::size_t> inevitable() const;
};

}  // namespace reweave
