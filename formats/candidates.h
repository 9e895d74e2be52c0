// Candidates: possible bugs found in a trace, each with a witness. On disk: candidates.capnp, one message in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/event.h"
#include "formats/output_file.h"

namespace reweave {

// Values are part of the format: append only.
enum class CandidateKind : std::uint8_t { kRace = 0, kDeadlock = 1, kAtomicity = 2, kOrderViolation = 3 };
inline constexpr unsigned kCandidateKindCount = 4;
const char* name_of(CandidateKind kind);

// A place in code, as every trace and recording of the same build knows it.
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
  std::string object;      // as people name it
  std::uint32_t site = 0;  // where it was taken: index in CandidateSet::sites
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
  std::string object;                // the variable as people name it, or empty
  std::vector<std::uint32_t> stack;  // sites, innermost first
  std::vector<HeldLock> held;        // right before the event, taken last first

  bool operator==(const CandidateEvent&) const = default;
};

// One schedule point of the reordering that reaches the bug: an operation before which a thread may be stopped.
struct WitnessStep {
  ThreadId thread = 0;
  std::uint64_t index = 0;  // in the trace
  EventKind kind = EventKind::kRead;
  std::uint64_t address = 0;
  std::uint32_t site = 0;
  std::uint64_t pc = 0;          // the event's place in the target: the same in every run of the recording
  std::uint64_t occurrence = 0;  // how many schedule points of this thread were at this site before

  bool operator==(const WitnessStep&) const = default;
};

struct Candidate {
  CandidateKind kind = CandidateKind::kRace;
  std::vector<CandidateEvent> events;
  std::vector<WitnessStep> witness;
  double score = 0;
  std::uint64_t count = 1;  // how often it was found
  std::string pattern;      // such as "R1-W2-W1"
  std::string summary;      // one sentence: what goes wrong
  // Schedule points left out at the start of the witness: those of the trace's first `skipped_events` events, in the
  // trace's order. If `cut`, more were left out behind them, in another order: `turns` tells which. The first of them
  // is the first step of the trace that was not skipped; then threads run in turns, each from where it is up to and
  // with the next of them. No turns: there were too many to tell.
  std::uint64_t skipped_steps = 0;
  std::uint64_t skipped_events = 0;
  bool cut = false;
  std::vector<WitnessStep> turns;
  std::vector<std::string> assumptions;  // what must hold of the program for it to be feasible, a sentence each
  std::vector<std::string> remarks;      // why it ranks where it does, and what else it was seen as

  bool operator==(const Candidate&) const = default;
};

struct CandidateSet {
  std::string trace;     // path of the trace
  std::string analysis;  // what found them
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
