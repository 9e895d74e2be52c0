@0x9eea0fe02c8e74f1;
# Candidates: possible bugs that the predictor found, each with a witness. One message in a file.
# See also docs/recording-format.md.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("reweave::schema");

struct Candidates {
  trace @0 :Text;                  # path of the trace
  analysis @1 :Text;               # name of the analysis that found them
  sites @2 :List(Site);            # other structs refer to them by index; <= 2^20
  candidates @3 :List(Candidate);  # <= 2^20
}

struct Site {
  module @0 :Text;    # path of the ELF file, or empty
  buildId @1 :Text;   # hex, or empty
  offset @2 :UInt64;  # virtual address in the file
  file @3 :Text;      # source file, or empty
  line @4 :UInt32;    # 0: not known
  function @5 :Text;
}

struct Candidate {
  kind @0 :UInt8;   # candidates.h CandidateKind, < 4
  events @1 :List(Event);
  witness @2 :List(Step);
  score @3 :Float64;
  count @4 :UInt64;  # number of times that it was found
  pattern @5 :Text;  # such as "R1-W2-W1"
  summary @6 :Text;  # one sentence: what goes wrong
  beginning @7 :List(Turn);  # from main to the first step of the witness
  assumptions @8 :List(Text);  # conditions under which the candidate is feasible; empty: it certainly is
  remarks @9 :List(Text);      # reasons for its rank, and other patterns under which it was found
}

struct Event {
  thread @0 :UInt16;
  index @1 :UInt64;        # in the trace
  kind @2 :UInt8;          # event.h EventKind, < 30
  site @3 :UInt32;         # index into Candidates.sites
  address @4 :UInt64;
  object @5 :Text;         # human-readable name, or empty
  stack @6 :List(UInt32);  # indices into Candidates.sites, innermost first
  held @7 :List(HeldLock); # locks held right before the event, the last one taken first
}

struct HeldLock {
  object @0 :Text; # human-readable name
  site @1 :UInt32;  # where it was acquired: index into Candidates.sites
  shared @2 :Bool;
}

# One schedule point of a witness, which lists its steps in the order in which to try them.
struct Step {
  thread @0 :UInt16;
  index @1 :UInt64;    # in the trace
  kind @2 :UInt8;      # event.h EventKind, < 30
  address @3 :UInt64;
  pc @4 :UInt64;       # in the run that was traced
}

# The thread runs until it has executed the schedule point at pc `arrivals` times.
struct Turn {
  thread @0 :UInt16;
  pc @1 :UInt64;
  arrivals @2 :UInt64;
}
