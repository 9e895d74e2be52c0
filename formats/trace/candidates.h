// Candidates: possible bugs found in a trace, each with a witness. On disk: candidates.capnp, one message in a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/base/output_file.h"
#include "formats/event.h"

namespace reweave {

// Values are part of the format: append only.
enum class CandidateKind : std::uint8_t { kRace = 0, kDeadlock = 1, kAtomicity = 2, kOrderViolation = 3 };
inline constexpr unsigned kCandidateKindCount = 4;
const char* name_of(CandidateKind kind);

// A place in the code, the same in every trace and recording of the same build.
struct CodeSite {
  std::string module;  // path of the ELF file, or empty
  std::string build_id;
  std::uint64_t offset = 0;  // virtual address in the file; the pc itself if there is no module
  std::string file;          // source file, or empty
  std::uint32_t line = 0;
  std::string function;

  bool operator==(const CodeSite&) const = default;
};

// A lock that a thread holds.
struct HeldLock {
  std::string object;      // human-readable name
  std::uint32_t site = 0;  // place of its acquisition: index in CandidateSet::sites
  bool shared = false;

  bool operator==(const HeldLock&) const = default;
};

// One of the events that make the bug.
struct CandidateEvent {
  ThreadId thread = 0;
  std::uint64_t index = 0;  // in the trace
  EventKind kind = EventKind::kRead;
  std::uint32_t site = 0;  // index in CandidateSet::sites
  std::uint64_t address = 0;
  std::string object;                // human-readable name of the variable, or empty
  std::vector<std::uint32_t> stack;  // sites, innermost first
  std::vector<HeldLock> held;        // right before the event, the last one taken first

  bool operator==(const CandidateEvent&) const = default;
};

// One schedule point of the reordering that reaches the bug: an operation before which a thread can be stopped.
struct WitnessStep {
  ThreadId thread = 0;
  std::uint64_t index = 0;  // in the trace
  EventKind kind = EventKind::kRead;
  std::uint64_t address = 0;
  std::uint64_t pc = 0;  // the event's place in the target: the same in every run of the recording

  bool operator==(const WitnessStep&) const = default;
};

// A thread runs until it has executed the schedule point at `pc` for the `arrivals`-th time since the turn began.
struct WitnessTurn {
  ThreadId thread = 0;
  std::uint64_t pc = 0;
  std::uint64_t arrivals = 0;

  bool operator==(const WitnessTurn&) const = default;
};

// The turns that make up `steps`. A join does not end a turn: in a run it is a system call, at another place than in
// the trace.
std::vector<WitnessTurn> turns_of(std::span<const WitnessStep> steps);

// Candidates of at least this score are worth reading first. Most of the others describe behaviour that correct
// programs have as well.
inline constexpr double kWorthReading = 1.0;
// Compares scores as displayed, rounded to one decimal.
bool worth_reading(double score);

struct Candidate {
  CandidateKind kind = CandidateKind::kRace;
  std::vector<CandidateEvent> events;
  std::vector<WitnessStep> witness;
  double score = 0;
  std::uint64_t count = 1;               // number of times that it was found
  std::string pattern;                   // such as "R1-W2-W1"
  std::string summary;                   // one sentence: what goes wrong
  std::vector<WitnessTurn> beginning;    // the threads' turns from main to the first step of the witness
  std::vector<std::string> assumptions;  // conditions for it to be feasible, a sentence each
  std::vector<std::string> remarks;      // reasons for its rank, and other patterns it was found as

  bool operator==(const Candidate&) const = default;
};

struct CandidateSet {
  std::string trace;     // path of the trace
  std::string analysis;  // name of the analysis that found them
  std::vector<CodeSite> sites;
  std::vector<Candidate> candidates;

  bool operator==(const CandidateSet&) const = default;
};

// Every site index read is within `sites`. Throws BadFile.
CandidateSet read_candidates(const std::string& path);
void write_candidates(OutputFile& output, const CandidateSet& set);
inline void write_candidates(const std::string& path, const CandidateSet& set) {
  OutputFile output(path);
  write_candidates(output, set);
}

}  // namespace reweave
