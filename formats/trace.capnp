@0xcfa35da25cec0302;
# The blocks of a trace file (*.rwt). Ranges stated here are checked by the reader. docs/recording-format.md says how
# the columns are coded.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("reweave::schema");

struct TraceHead {
  # Block type 4, the first: the origin of the trace.
  toolVersion @0 :Text;
  commandLine @1 :List(Text);
  source @2 :Text;  # path of the recording that was traced, or empty
  quirks @3 :TraceQuirks;
}

struct TraceQuirks {
  # Behaviours that changed after a release; a default is always the OLD behaviour. (None yet.)
  reserved @0 :Bool;
}

struct TraceNames {
  # Block type 5: sites, modules and threads that the chunks after it may use. Ids continue the previous block's.
  firstSite @0 :UInt32;
  sites @1 :Data;  # per site: varint (space), signed varint (pc - pc of the site before in this block)
  siteCount @2 :UInt32;  # sites of all blocks together <= 2^24
  modules @3 :List(Module);  # all blocks together <= 2^16
  threads @4 :List(Thread);  # all blocks together <= 2^16
  firstCall @5 :UInt32;
  calls @6 :Data;  # per call of a stack: varint (id of the enclosing call, or 0), varint (site)
  callCount @7 :UInt32;  # calls of all blocks together <= 2^24; ids count from 1
}

struct Module {
  path @0 :Text;      # <= 4096 bytes
  buildId @1 :Text;   # lower-case hex, <= 128 digits, or empty
  base @2 :UInt64;    # address = base + the file's virtual address
  start @3 :UInt64;   # < end
  end @4 :UInt64;
  space @5 :UInt32;   # < 2^16: number of its address space
}

struct Thread {
  id @0 :UInt16;
  parent @1 :UInt16;
  process @2 :UInt16;
  kind @3 :UInt8;     # wire.h SpawnKind, < 4
  tid @4 :Int64;
}

struct TraceChunk {
  # Block type 6: events in program order. Can be decoded alone, given the names.
  firstEvent @0 :UInt64;
  count @1 :UInt32;    # 1 <= count <= 2^20
  control @2 :Data;    # a byte per event: which predictions held
  ops @3 :Data;        # varint: op of this chunk, where not predicted
  newOps @4 :Data;     # per op new in this chunk: signed varint (site - site of the op before), varint form
  threads @5 :Data;    # varint, where the thread changes
  addresses @6 :Data;  # signed varint, where not predicted
  extras @7 :Data;     # signed varint, where not predicted
  values @8 :Data;     # varint: value_coding.h, where not predicted
}

struct TraceFoot {
  # Block type 7, the footer: the places of the chunks. The end block points here.
  events @0 :UInt64;
  chunks @1 :List(ChunkPlace);
  names @2 :List(UInt64);  # offsets of the TraceNames blocks
}

struct ChunkPlace {
  offset @0 :UInt64;
  firstEvent @1 :UInt64;  # continues the chunk before
  count @2 :UInt32;
}
