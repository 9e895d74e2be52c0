// The arena: shared memory of the supervisor and every process of the target's tree.
//
//   header (config, channels, status) | runtime state (threads, processes) | out ring | feed
//
// The target's processes map it at kArenaBase, the supervisor at any address. It holds everything that must survive
// exec or be seen by another process of the tree; state private to a process is the core's own data. Both rings are
// mapped twice in a row, so that a record never wraps.
//
// Thread rule: only the baton holder writes fields of the runtime state, unless they are atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "formats/wire.h"

namespace reweave {

// Fixed places of the core in the target's address space; kernels put nothing there. Places that every run touches are
// close together, because each page of page tables costs an explored run a microsecond.
inline constexpr std::uint64_t kCoreBase = 0x6000'0000'0000;    // the core's image
inline constexpr std::uint64_t kArenaBase = 0x6000'0800'0000;   // header and runtime state
inline constexpr std::uint64_t kOutBase = 0x6000'2c00'0000;     // out ring, mirrored
inline constexpr std::uint64_t kStacksBase = 0x6000'3000'0000;  // the core's stack of each thread
inline constexpr std::uint64_t kIndexBase = 0x6000'c000'0000;   // fork server: index of the recorded calls
inline constexpr std::uint64_t kFeedBase = 0x6001'0000'0000;    // feed ring, mirrored
inline constexpr std::uint64_t kModelBase = 0x6004'0000'0000;   // explored runs: memory of the model
inline constexpr std::uint64_t kModelBytes = std::uint64_t{8} << 30;
inline constexpr std::uint64_t kScratchBase = 0x6400'0000'0000;  // scratch of each thread, for blocking calls
inline constexpr std::uint64_t kShadowBase =
    0x6800'0000'0000;  // heap shadow: one byte for 16 bytes of the target's memory
inline constexpr std::uint64_t kShadowEnd = 0x6f12'0000'0000;
inline constexpr std::uint64_t kOursEnd = kShadowEnd;  // end of the addresses that the target must not touch

// Places of the target's own memory. Each program of the tree gets a slot: 0 for the program that the user named,
// otherwise by its path. Programs in different slots have their code and libraries at different addresses, so that an
// address tells which program it belongs to.
inline constexpr std::uint64_t kPieBase = 0x5555'5555'4000;  // the usual place under gdb, without randomisation
inline constexpr std::uint64_t kMmapTop = 0x7000'0000'0000;  // mmap without an address allocates downwards from here
inline constexpr std::uint32_t kProgramSlots = 64;
inline constexpr std::uint64_t kProgramSlotBytes = std::uint64_t{4} << 30;  // distance between the places of two slots
constexpr std::uint64_t pie_base(std::uint32_t slot) { return kPieBase + slot * kProgramSlotBytes; }
constexpr std::uint64_t mmap_top(std::uint32_t slot) { return kMmapTop - slot * kProgramSlotBytes; }
inline constexpr std::uint64_t kStackTop = 0x7100'0000'0000;
inline constexpr std::uint64_t kStackBytes = std::uint64_t{8} << 20;

static_assert(pie_base(kProgramSlots) < kCoreBase && mmap_top(kProgramSlots) > kOursEnd + (std::uint64_t{512} << 30));

// Areas between the target's own memory that hold the core's stubs of patched code (core/code/stubs.h). They are within
// a jump's reach of, in this order, libraries, position-independent programs, and programs at fixed addresses. The last
// area is below what checkers and emulators reserve for their own programs. Each area is filled from the end nearest to
// that code, because processors are slow at jumps over 16 MiB or more.
struct StubArea {
  std::uint64_t start, bytes;
  bool from_end;
};
inline constexpr std::uint64_t kStubAreaBytes = 64 << 20;
inline constexpr std::uint32_t kStubAreaCount = 3;
struct StubAreas {
  StubArea areas[kStubAreaCount];
};
// The areas in a process whose program has that slot.
constexpr StubAreas stub_areas(std::uint32_t slot) {
  return {{{mmap_top(slot), kStubAreaBytes, false},
           {pie_base(slot) - kStubAreaBytes, kStubAreaBytes, true},
           {0x2'0000, 0xe'0000, true}}};
}
inline constexpr StubArea kLowStubArea = stub_areas(0).areas[2];  // the same in all slots

inline constexpr std::uint32_t kMaxThreads = 16384;
inline constexpr std::uint32_t kMaxProcesses = 32'000;
inline constexpr std::uint32_t kMaxFds = 4096;
inline constexpr std::uint32_t kMaxFdTables = 8192;
inline constexpr std::uint64_t kCoreStackBytes = 128 << 10;
inline constexpr std::uint64_t kScratchBytes = 256 << 20;
inline constexpr std::uint64_t kOutRingBytes = 16 << 20;

// The descriptor by which the arena survives exec; the target can neither see nor close it.
inline constexpr int kArenaFd = 1000;
inline constexpr int kRunArenaFd = kArenaFd + 1;  // fork server and its runs: the arena of the runs
inline constexpr int kProgramFd = kArenaFd + 2;   // the program, even if it was renamed or removed
inline constexpr int kContentsFd = kArenaFd + 3;  // replay: contents of small mapped files
// Opened with O_PATH, because a process may later have another root or /proc than at the start.
inline constexpr int kProcFd = kArenaFd + 4;          // /proc
inline constexpr int kCoreFd = kArenaFd + 5;          // RunConfig::core_path; the next ones likewise
inline constexpr int kShimFd = kArenaFd + 6;          // shim_path
inline constexpr int kTsanFd = kArenaFd + 7;          // tsan_path
inline constexpr int kPreloadFd = kArenaFd + 8;       // recording: preload_path
inline constexpr int kTsanPreloadFd = kArenaFd + 9;   // recording: tsan_preload_path
inline constexpr int kRunStandInsFd = kArenaFd + 10;  // explored run: its stand-ins
inline constexpr int kModelFd = kArenaFd + 11;        // explored run of several processes: the model's state
inline constexpr int kBellFds = kArenaFd + 12;        // recording: of seccomp listeners (seccomp_state.h)
inline constexpr int kMaxBells = 4;                   // of one process
inline constexpr int kReservedFds = 12 + kMaxBells;   // number of the core's own descriptors
inline constexpr int kRingFd = kContentsFd;           // recording: the ring's file, if RunConfig::ring_in_file
inline constexpr int kCheckpointFd = kModelFd;        // replay with RunConfig::makes_checkpoints: its requests
inline constexpr int kCopiesFd = kRunStandInsFd;      // a checkpoint: requests for copies

// Traced replay: the known call stacks (recorder/stack_cache.h).
inline constexpr std::uint64_t kStackCacheBytes = 64 << 20;

// Replay: each file that the recorded program could change through a mapping is replaced by a stand-in, a part of the
// arena's (sparse) file at or after kStandInsOffset.
inline constexpr std::uint32_t kMaxStandIns = 8192;
inline constexpr std::uint32_t kWrittenFileBits = 1 << 20;  // in RuntimeState::written_files; a file's hash selects one
inline constexpr std::uint64_t kStandInsOffset = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kStandInBytes = std::uint64_t{1} << 44;
using wire::kMapFresh, wire::kMapInlined, wire::kMapReadOnly, wire::kMapStandIn;
// The supervisor sends this signal to a thread that reaches no schedule point (supervisor/target/watchdog.h). The value
// sent with it distinguishes it from the target's own uses of that signal number.
inline constexpr int kWatchdogSignal = 63;
inline constexpr std::uint64_t kWatchdogValue = 0x676f647765526557;
inline constexpr std::uint64_t kSliceOverValue = kWatchdogValue + 1;  // the holder's time slice is over
// Threads of the target send each other the same signal with this value (core/ptrace/tracing.h).
inline constexpr std::uint64_t kKickValue = kWatchdogValue + 2;

// The name (argv[0]) under which the core starts when an explored run executes a program.
inline constexpr char kRunName[] = "reweave-run";

inline constexpr std::uint64_t kArenaMagic = 0x31304e4557524557;  // "REWREN01"

// One direction of a single-producer single-consumer byte ring of records.
// head and tail are byte counts that only grow; position = count & (bytes - 1).
struct Channel {
  alignas(64) std::atomic<std::uint64_t> head;  // producer: bytes written
  std::atomic<std::uint32_t> head_signal;       // futex: incremented to wake a sleeping consumer
  std::atomic<std::uint32_t> closed;            // producer: no more records follow
  alignas(64) std::atomic<std::uint64_t> tail;  // consumer: bytes read
  std::atomic<std::uint32_t> tail_signal;       // futex: incremented to wake a sleeping producer
  alignas(64) std::uint64_t bytes;              // capacity, a power of two
  std::uint64_t file_offset;                    // where the ring starts in the arena's file
};

// Counts what has been saved elsewhere of the out ring's stream since the start of the run. Only that part may be
// overwritten in the ring.
struct SavedMark {
  std::uint64_t bytes, records;
};
// A recording keeps its ring in its file `unsaved`, so that records survive if the recorder or the program is killed.
// The file begins with this page; the ring follows (supervisor/ring/unsaved.h). The supervisor writes it.
struct RingMarks {
  std::uint64_t magic;
  std::uint32_t version;            // wire::kVersion
  std::atomic<std::uint32_t> mark;  // index of the valid mark
  SavedMark marks[2];
  std::atomic<std::uint64_t> saved;  // `bytes` of that mark
};
inline constexpr std::uint64_t kRingMagic = 0x474e49524e455752;  // "RWENRING"
inline constexpr std::uint64_t kRingPage = 4096;                 // bytes before the ring in its file

enum class Mode : std::uint32_t { kRecord = 0, kReplay = 1 };
// The source of the results of system calls.
enum class Environment : std::uint32_t { kLive = 0, kRecorded = 1, kModelled = 2 };
// The events that are kept.
enum class Sink : std::uint32_t { kDecisions = 0, kTrace = 1, kNothing = 2 };

// Configuration of a policy. The supervisor fills it in before the run.
struct PolicyConfig {
  char name[24];
  std::uint64_t seed;
  std::uint64_t slice;       // approximate schedule points per time slice
  std::uint64_t depth;       // PCT: number of change points plus one
  std::uint64_t length;      // PCT: estimated schedule points of a run
  std::uint64_t inputs;      // seed of the values that the program asks for (reweave::choose); 0: each is 0
  std::uint64_t goal_bytes;  // bytes of policy data (a witness, a list of switches) in the arena's goal area
};

struct RunConfig {
  Mode mode;
  Environment environment;
  Sink sink;
  std::uint32_t memory_checksums;  // 1: log a ChecksumRecord after each system call
  std::uint32_t stack_fill;        // tests: the byte with which the core's stacks are filled at first; 0: none
  std::uint64_t seed;
  std::int64_t start_time_ns;     // by the clock of file systems; files changed later are fresh (kMapFresh)
  std::uint64_t stop_event;       // replay: hold before this event number; ~0: never
  std::uint64_t tick_budget;      // schedule points after which the run is a hang; 0: none
  std::uint64_t fair_from;        // schedule points after which the policy is `fair`; 0: none
  std::uint8_t random_bytes[16];  // AT_RANDOM
  PolicyConfig policy;
  std::uint32_t cpu;             // the processor that all threads of the target share
  std::uint32_t affinity_bytes;  // size of `affinity`: the processors that the target may see, in the kernel's format
  std::uint64_t affinity[16];
  std::uint32_t fork_server;      // 1: at main or fork_at, fork a run per request (core/explored/fork_server.h)
  std::uint64_t fork_at;          // function whose first entry starts explored runs; 0: main
  std::uint32_t patch_calls;      // 1: hot system calls are patched (core/code/patching.h)
  std::uint32_t processor_level;  // recording: cpuid hides what exceeds x86-64-v2 to v4; 0: it hides nothing
  std::uint32_t supervisor;       // its process ID: the parent of orphaned processes
  std::uint32_t ring_in_file;     // recording: 1: the out ring is the file kRingFd rather than a part of the arena
  std::uint32_t keep_files;       // recording: reads of large files are logged by reference
  std::uint32_t access_points;    // 1: every instrumented access asks the policy
  std::uint32_t
      detect_memory_errors;         // from main or fork_at on: freed memory is quarantined, and using it ends the run
  std::uint32_t detect_now;         // set by the core at that point
  std::uint32_t observe;            // 1: each choice of the policy is noted (recorder/observation.h)
  std::uint32_t makes_checkpoints;  // replay: 1: it holds to make checkpoints (core/syscalls/tasks/copies.h)
  char core_path[512];
  char shim_path[512];
  char tsan_path[512];          // loaded instead of ThreadSanitizer's runtime
  char preload_path[512];       // file naming the shim, which the loader sees as /etc/ld.so.preload
  char tsan_preload_path[512];  // the same for a program with ThreadSanitizer's runtime: names both libraries
};

// Replay: the recorded preemption that the baton's holder is searching for. The target writes this.
struct SoughtInstant {
  std::atomic<std::uint32_t> thread;      // the holder's ID plus one; 0: no search
  std::uint64_t stalled_ms;               // wire::stalled_ms of the record
  std::uint64_t ip;                       // the instruction at which the thread was preempted
  std::atomic<std::uint64_t> passes;      // how often the thread reached `ip` in a different state
  std::atomic<std::uint64_t> other_page;  // a page that alone made the state differ; 0: none was seen
};

// The core's reports to the supervisor, besides records.
struct RunStatus {
  std::atomic<std::uint32_t> fatal;    // 1: the core stopped the run; `message` says why
  std::atomic<std::uint32_t> outcome;  // wire::OutcomeKind, when fatal
  std::atomic<std::uint32_t> guarded;  // futex: 1 once the guard exists
  std::atomic<std::uint32_t> held;     // futex: not 0 while the process `held_pid` is stopped at stop_event
                                       // (recorder/checkpoint_calls.h)
  std::atomic<std::uint32_t> held_pid;
  std::atomic<std::uint32_t> server_ready;    // futex: 1 once the fork server waits for requests
  std::atomic<std::uint32_t> server_request;  // futex: runs asked for so far
  std::atomic<std::uint32_t> server_done;     // futex: runs finished so far
  std::int32_t run_status;                    // how the last run ended, as wait(2) encodes it
  std::atomic<std::int32_t> run_pid;          // its kernel process ID while it runs
  std::atomic<std::uint64_t> event;           // records produced or consumed so far
  std::atomic<std::uint32_t> final_known;     // replay: `final_status` is how the recorded first process ended
  std::int32_t final_status;                  // as wait(2) encodes it
  std::atomic<std::int32_t> first_killed;     // replay: the signal that killed the first process from outside, or 0
  SoughtInstant sought;
  char message[2048];
};

// Recording: a thread asks the supervisor to keep a file unchanged (core/syscalls/files/kept_files.h). Used with the
// baton.
struct KeepRequest {
  std::atomic<std::uint32_t> asked;
  std::atomic<std::uint32_t> answered;  // futex
  std::int32_t pid, fd;                 // the process, and its descriptor of the file
  std::uint64_t device, inode;
  std::uint16_t file;  // the answer: the kept file's number plus one, or kNotKept
};
inline constexpr std::uint32_t kMaxKept = 256;
inline constexpr std::uint16_t kNotKept = 0xffff;

// The time, kept by the supervisor for a target that reads clocks very often (supervisor/ring/clock_keeper.h).
struct KeptTime {
  alignas(64) std::atomic<std::uint64_t> reads;  // number of reads by the target of the two clocks below; written with
                                                 // the baton
  alignas(64) std::atomic<std::int64_t> monotonic;  // CLOCK_MONOTONIC in nanoseconds, a moment ago; 0: not kept
  std::atomic<std::int64_t> to_realtime;            // CLOCK_REALTIME minus CLOCK_MONOTONIC
};

struct ArenaHeader {
  std::uint64_t magic;
  std::uint32_t version;  // wire::kVersion
  std::uint32_t header_bytes;
  RunConfig config;
  RunStatus status;
  KeepRequest keep;
  std::atomic<std::uint32_t> logging_kept;             // 1: a reference to a kept file may be about to be logged
  std::atomic<std::uint32_t> kept_changing[kMaxKept];  // 1: no new references to this file
  KeptTime kept_time;
  Channel feed;
  alignas(kRingPage) Channel out;
  RingMarks ring;
};
static_assert(offsetof(ArenaHeader, out) % kRingPage == 0 && sizeof(Channel) + sizeof(RingMarks) <= kRingPage);

}  // namespace reweave
