@0xb325eb0626894bf9;
# The contents of a recording inside its block framing: the manifest, and blocks of events. Ranges stated here are
# checked by the readers. See also docs/recording-format.md.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("reweave::schema");

struct Manifest {
  # File `manifest`: one message. Written when recording starts (complete = false), replaced when it ends.
  # No list has more than 2^20 items.

  toolVersion @0 :Text;        # of the Reweave that recorded
  complete @1 :Bool;           # false: the recorder was killed before it could finish
  commandLine @2 :List(Text);
  environment @3 :List(Text);  # NAME=value, in the target's order
  workingDirectory @4 :Text;
  startTimeNs @5 :Int64;       # since 1970, UTC
  hostKernel @6 :Text;         # uname -r
  cpuModel @7 :Text;
  seed @8 :UInt64;             # of the policy
  chaos @9 :Bool;
  policy @10 :Text;            # name as on the command line
  checksums @11 :Bool;         # kChecksum records are in the events
  waitStatus @12 :Int32;       # of the first process, as wait(2) encodes it; valid if complete
  outcome @13 :UInt32;         # wire.h OutcomeKind, < 11
  outcomeDetail @14 :Int32;
  outcomeText @15 :Text;
  processes @16 :List(Process);
  files @17 :List(MappedFile);
  quirks @18 :Quirks;
  eventsTotal @19 :UInt64;     # records in `events`; valid if complete
  parent @20 :Text;            # the recording that this one was derived from, or empty
  heapChecks @21 :Bool;        # from main on, freed memory was watched; a replay does the same
  debugFiles @22 :List(DebugFile);
  heapChecksFrom @23 :UInt64;
  # Where heap checks start. 0: main; bit 63 set: the schedule point whose number is in the other bits; otherwise the
  # first entry of the function at this address.
}

struct DebugFile {
  # Separate debug information stored in the recording.
  buildId @0 :Text;     # lower-case hex, <= 128 digits: of the file it belongs to; its own if other files refer to it
  storedName @1 :Text;  # name within `files/` (16 lower-case hex digits)
}

struct Quirks {
  # Behaviours that changed after a release. A default is always the OLD behaviour, so that old recordings replay.
  # (None yet.)
  reserved @0 :Bool;
}

struct Process {
  index @0 :UInt32;   # equal to its place in the list
  parent @1 :UInt32;  # <= index; equal for the first
  pid @2 :Int32;      # while recording
  program @3 :Text;   # path of the last executable
  waitStatus @4 :Int32;  # as wait(2) encodes it; -1: it had not ended when the run ended
}

struct MappedFile {
  path @0 :Text;
  size @1 :UInt64;
  ctimeNs @2 :Int64;
  device @3 :UInt64;
  inode @4 :UInt64;
  buildId @5 :Text;      # lower-case hex, <= 128 digits; empty if not ELF or without one
  contentHash @6 :Text;  # 16 lower-case hex digits, xxh3-64 of the content; may be empty if buildId is not
  storedName @7 :Text;   # name within `files/` (16 lower-case hex digits), or empty: not stored
}

struct EventBlock {
  # Block type 3: `count` wire records in order. Columns are byte strings, coded as docs/recording-format.md says.

  firstRecord @0 :UInt64;  # index of the first record; continues the previous block's
  count @1 :UInt32;        # 1 <= count <= 2^24
  rawBytes @2 :UInt64;     # of the records together, < 2^31
  heads @3 :Data;          # a byte per record: kind | flags
  threads @4 :Data;        # for records whose thread is not the expected one
  switches @5 :Switches;
  syscalls @6 :Syscalls;
  outputs @7 :Outputs;
  raw @8 :Data;            # records of rarer kinds: varint length, then their bytes after the RecordHeader
  clocks @9 :Clocks;
}

struct Switches {
  steps @0 :Data;
  targets @1 :Data;
  reasons @2 :Data;
  ticks @3 :Data;
}

struct Syscalls {
  places @0 :Data;
  # Where the call was made. 0: the predicted place; n: place n of this block, counted from 1. If n is one more than the
  # places so far, it is new, and newPlaces has it.
  newPlaces @1 :Data;  # 4 bytes each: upper half of the context
  numbers @2 :Data;
  flags @3 :Data;
  results @4 :Data;
  args @5 :List(Data);   # 6 columns
  steps @6 :Data;
  outputCounts @7 :Data;
  checks @8 :Data;     # lower half of the context
}

struct Clocks {
  steps @0 :Data;
  contexts @1 :Data;
  clocks @2 :Data;
  times @3 :Data;  # nanoseconds
}

struct Outputs {
  shapes @0 :Data;     # coding of address and length
  addresses @1 :Data;  # those not equal to an argument
  lengths @2 :Data;    # those not equal to the result
  payload @3 :Data;    # all outputs' bytes, without padding
}
