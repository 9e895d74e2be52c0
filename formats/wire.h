// The records that cross the boundary between the target's processes and the supervisor, and the shared memory
// ("arena") they travel through. The only header both sides include besides event.h.
//
// Layout rules: fixed-size little-endian plain structs, sizes a multiple of 8, no pointers that are valid on one side
// only. A record never wraps: both sides map each ring twice in a row ("mirrored"). The same records, in the same
// order, are what a recording holds (docs/recording-format.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/event.h"

namespace reweave::wire {

inline constexpr std::uint32_t kVersion = 1;

// ---------------------------------------------------------------------------------------------------------
// Records
// ---------------------------------------------------------------------------------------------------------

// Kinds below kTraceTag. Values are part of the recording format: append only.
enum class RecordKind : std::uint16_t {
  kNone = 0,         // padding, header.bytes long; in the ring only, never in a file
  kSwitch = 1,       // the baton moved: SwitchRecord
  kSyscall = 2,      // a system call completed: SyscallRecord + OutputChunk...
  kSignal = 3,       // a signal was delivered to the header's thread: SignalRecord
  kMapFile = 4,      // a file was mapped (by the call before, or by the loader): MapFileRecord + path
  kSpawn = 5,        // a thread or process was created: SpawnRecord
  kExec = 6,         // the header's thread replaced its process image: ExecRecord + path
  kThreadExit = 7,   // ThreadExitRecord
  kProcessExit = 8,  // ProcessExitRecord
  kOutcome = 9,      // the runtime's verdict on the run: OutcomeRecord + text
  kInput = 10,       // nondeterministic input other than a system call's (cpuid, rdtsc): InputRecord
  kChecksum = 11,    // hash of registers and writable memory at the call before: ChecksumRecord
  kModule = 12,      // trace only: an ELF file's load address, so that sites can be named: ModuleRecord + path
  kPreempt =
      13,  // the header's thread was made to give up the baton between schedule points: PreemptRecord + NamedWord...
  kPatch = 14,    // the code of the system call that the header's thread makes next was patched: PatchRecord
  kClock = 15,    // clock_gettime or gettimeofday gave the time: ClockRecord
  kMapCode = 16,  // places to be replaced in code just mapped: MapCodeRecord + offsets
};

// Every record starts with this. `bytes` counts the whole record, header and padding included; multiple of 8.
struct RecordHeader {
  std::uint16_t kind;    // RecordKind, or kTraceTag | ... for the packed trace records below
  std::uint16_t thread;  // ThreadId it belongs to
  std::uint32_t bytes;
};
static_assert(sizeof(RecordHeader) == 8);

// The record that `header` begins. The caller knows its kind: a record of another kind is a bug of ours, and ends the
// process by SIGILL.
template <typename Record>
const Record& record_cast(const RecordHeader& header) {
  if (header.kind != static_cast<std::uint16_t>(Record::kKind)) __builtin_trap();
  return reinterpret_cast<const Record&>(header);
}

// Why the baton moved.
enum class SwitchReason : std::uint8_t {
  kPreempted = 0,  // the policy chose another thread
  kBlocked = 1,    // the thread waits for another thread
  kInKernel = 2,   // the thread is in a system call that may block
  kExited = 3,
  kYielded = 4,
};

// The baton goes from `header.thread` to `to` at global schedule point number `step`.
struct SwitchRecord {
  static constexpr RecordKind kKind = RecordKind::kSwitch;
  RecordHeader header;
  std::uint64_t step;   // schedule points executed so far in the whole run
  std::uint16_t to;     // ThreadId
  std::uint8_t reason;  // SwitchReason
  std::uint8_t
      timed_out;       // `to` resumes from a wait without being woken: 1 its deadline passed, 2 a signal came; else 0
  std::uint32_t tick;  // schedule points that header.thread had executed, modulo 2^32
};
static_assert(sizeof(SwitchRecord) == 24);

// A completed system call. Followed, up to header.bytes, by OutputChunks.
struct SyscallRecord {
  static constexpr RecordKind kKind = RecordKind::kSyscall;
  RecordHeader header;
  std::uint32_t number;  // x86-64 system call number
  std::uint32_t flags;   // SyscallFlags
  std::int64_t result;   // as the kernel returns it: -errno on failure
  std::uint64_t args[6];
  std::uint64_t step;     // global schedule point at which its result was known
  std::uint64_t context;  // hash: upper half of instruction and stack pointer, lower half of callee-saved registers
};
static_assert(sizeof(SyscallRecord) == 88);

// SyscallRecord::number of records that the core logs in the form of a call; no kernel has calls of these numbers.
inline constexpr std::uint32_t kImageStart = 0x5258;     // the initial state of a program's image
inline constexpr std::uint32_t kFileContents = 0x5259;   // contents of a mapped file
inline constexpr std::uint32_t kFileChanged = 0x525a;    // a mapped file's device, inode and size, and what was written
inline constexpr std::uint32_t kScriptHead = 0x525b;     // the head of an executed script
inline constexpr std::uint32_t kOutputPart = 0x525c;     // a part of the next call's outputs, which exceed one record
inline constexpr std::uint32_t kMemoryChanged = 0x525d;  // a write to the memory of the process with index args[0]

// Bits of SyscallRecord::flags.
inline constexpr std::uint32_t kWritesStdout = 1;  // wrote to the file that was the first process's standard output
inline constexpr std::uint32_t kWritesStderr = 2;
inline constexpr std::uint32_t kLeftBaton = 4;  // gave up the baton while in the kernel
// The OutputChunk of its only output is followed not by the data but by a KeptRange (in the ring) or a StoredApart (in
// a recording). Readers of recordings put the data there, and clear this bit.
inline constexpr std::uint32_t kOutputApart = 8;
// The first chunk, at address 0, is not an output: it holds NamedFiles and text. Recordings older than this bit have no
// names.
inline constexpr std::uint32_t kNamesFiles = 16;

// The names of files that a call was given follow this, in the order of the arguments, each with a NUL. If the call
// opened a file, the first four fields are its data from fstat(2); otherwise they are zero.
struct NamedFiles {
  std::uint64_t device;
  std::uint64_t inode;
  std::int64_t size;
  std::uint32_t mode;
  std::uint32_t text_bytes;
};

// `bytes` of memory that the call wrote at `address`; data follows, padded to 8.
struct OutputChunk {
  std::uint64_t address;
  std::uint64_t bytes;
};

// Data that the call read from a file, which the supervisor still has unchanged
// (recorder/core/syscalls/files/kept_files.h).
struct KeptRange {
  std::uint64_t file;  // number of the kept file
  std::uint64_t offset;
};

// Data in the recording's file `reads`.
struct StoredApart {
  std::uint64_t position;
  std::uint64_t hash;  // xxh3-64 of the data
};
static_assert(sizeof(KeptRange) == sizeof(StoredApart));

// A signal delivered to a handler, or the default action taken, at the start of the schedule point `step`.
struct SignalRecord {
  static constexpr RecordKind kKind = RecordKind::kSignal;
  RecordHeader header;
  std::uint64_t step;
  std::uint32_t number;
  std::uint32_t flags;     // 1: asynchronous (from outside), 0: caused by the instruction itself
  std::uint8_t info[128];  // siginfo_t
};

// A file mapped at `address`. The supervisor adds its content identity when it drains the record.
// Followed by the NUL-terminated absolute path, padded to 8.
struct MapFileRecord {
  static constexpr RecordKind kKind = RecordKind::kMapFile;
  RecordHeader header;
  std::uint64_t address;  // 0: the loader opened a script, program or interpreter, in this order
  std::uint64_t length;
  std::uint64_t offset;  // if `address` is 0, the program's slot (kProgramSlots in recorder/arena.h)
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t file_size;
  std::int64_t ctime_ns;  // last change of content or attributes
  std::uint32_t prot;
  std::uint32_t flags;  // MAP_*, and the bits below
};
// Bit of MapFileRecord::flags: the file's contents at that moment follow the record, and the file itself is not needed.
inline constexpr std::uint32_t kMapStandIn = std::uint32_t{1} << 31;
// The same for a small file that is mapped privately and so has no stand-in.
inline constexpr std::uint32_t kMapInlined = std::uint32_t{1} << 29;
// Bit of MapFileRecord::flags: the file was not open for writing, so a shared mapping of it cannot be made writable.
inline constexpr std::uint32_t kMapReadOnly = std::uint32_t{1} << 28;
// Bit of MapFileRecord::flags: the file was created or changed during the run and may be gone at its end. The
// supervisor keeps its contents, and the thread waits for that.
inline constexpr std::uint32_t kMapFresh = std::uint32_t{1} << 30;

enum class SpawnKind : std::uint32_t { kFirst = 0, kThread = 1, kProcess = 2, kVfork = 3 };

// header.thread created `child`.
struct SpawnRecord {
  static constexpr RecordKind kKind = RecordKind::kSpawn;
  RecordHeader header;
  std::uint16_t child;     // ThreadId
  std::uint16_t process;   // index of the child's process in the recording, 0 is the first
  std::uint32_t kind;      // SpawnKind
  std::int32_t tid;        // the kernel's thread id while recording
  std::int32_t inner_tid;  // its own id in a PID namespace that the program made; else 0
};

// Followed by the NUL-terminated path of the program, padded to 8.
struct ExecRecord {
  static constexpr RecordKind kKind = RecordKind::kExec;
  RecordHeader header;
  std::uint32_t process;
  std::uint32_t reserved;
};

struct ThreadExitRecord {
  static constexpr RecordKind kKind = RecordKind::kThreadExit;
  RecordHeader header;
  std::uint64_t step;
};

// header.thread of a ProcessExitRecord that no thread wrote: the process was killed from outside, and the supervisor
// noticed.
inline constexpr std::uint16_t kOutsideThread = 0xffff;

// Bit of a ProcessExitRecord's wait status, only with kOutsideThread: the process was killed by the call recorded
// before, which a process of the tree made.
inline constexpr std::int32_t kKilledWithin = 1 << 16;

struct ProcessExitRecord {
  static constexpr RecordKind kKind = RecordKind::kProcessExit;
  RecordHeader header;
  std::uint32_t process;
  std::int32_t wait_status;  // as wait(2) encodes it
};

// Outcomes of runs. Values are part of the formats: append only.
enum class OutcomeKind : std::uint32_t {
  kPassed = 0,
  kExitStatus = 1,     // exit status other than 0; detail = status
  kSignalled = 2,      // died by signal; detail = number
  kDeadlock = 3,       // text names the cycle
  kHang = 4,           // tick budget used up, the last part of it under a fair schedule
  kMemoryError = 5,    // heap use after free, double free; detail = MemoryErrorKind
  kCheckFailed = 6,    // the user's check of the output failed
  kLeftRecording = 7,  // a perturbed run asked for something the recording cannot answer
  kDiverged = 8,
  kUnsupported = 9,  // the target did something that Reweave cannot record; text describes it and a remedy
  kTruncated = 10,   // the recording ends here
};

// The text of a kHang that used up its tick budget.
inline constexpr const char* kNeverEnds = "hang: a fair schedule does not end the run";

// Followed by NUL-terminated text, padded to 8.
struct OutcomeRecord {
  static constexpr RecordKind kKind = RecordKind::kOutcome;
  RecordHeader header;
  std::uint32_t outcome;  // OutcomeKind
  std::int32_t detail;
  std::uint64_t step;
};

// Inputs that come without a system call.
enum class InputSource : std::uint32_t {
  kRdtsc = 0,
  kRdtscp = 1,
  kCpuid = 2,
  kRdrand = 3,
  kRdseed = 4,
  kRdpid = 5,
  // This recording contains results of cpuid and xgetbv; values: FpLayout (recorder/fp_layout.h).
  kCpuidRecorded = 6,
  kXgetbv = 7,
  kChosen = 8,  // reweave::choose; values: the number of choices, the one chosen, PolicyConfig::inputs
};

struct InputRecord {
  static constexpr RecordKind kKind = RecordKind::kInput;
  RecordHeader header;
  std::uint32_t source;  // InputSource
  std::uint32_t reserved;
  std::uint64_t values[4];
};

struct ChecksumRecord {
  static constexpr RecordKind kKind = RecordKind::kChecksum;
  RecordHeader header;
  std::uint64_t registers;
  std::uint64_t memory;
};

// An ELF file loaded with bias `base` (address = base + file's virtual address) over [start, end).
// Followed by the NUL-terminated path, padded to 8.
struct ModuleRecord {
  static constexpr RecordKind kKind = RecordKind::kModule;
  RecordHeader header;
  std::uint64_t base;
  std::uint64_t start;
  std::uint64_t end;
};

// From this record on, the call that returns to `address` enters the runtime by a jump (recorder/core/code/patching.h).
// With kPatchedPause, instead, the `pause` before `address` is a schedule point; with kPatchedLoop, the instruction at
// `address` is one.
inline constexpr std::uint64_t kPatchedPause = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kPatchedLoop = std::uint64_t{1} << 62;
struct PatchRecord {
  static constexpr RecordKind kKind = RecordKind::kPatch;
  RecordHeader header;
  std::uint64_t address;
};

// A successful clock_gettime or gettimeofday; often the most frequent call of a program.
struct ClockRecord {
  static constexpr RecordKind kKind = RecordKind::kClock;
  RecordHeader header;
  std::uint64_t step;     // as in SyscallRecord
  std::int64_t time;      // nanoseconds since the clock's zero
  std::uint32_t context;  // as in SyscallRecord, but includes the address to which the time was written
  std::uint32_t clock;    // CLOCK_*, or kTimeOfDay
};
static_assert(sizeof(ClockRecord) == 32);

// Followed by `count` ascending offsets from `start`, of 4 bytes each.
struct MapCodeRecord {
  static constexpr RecordKind kKind = RecordKind::kMapCode;
  RecordHeader header;
  std::uint64_t start;  // address of the code
  std::uint32_t count;
  std::uint32_t reserved;
};

// ClockRecord::clock of gettimeofday, which shows CLOCK_REALTIME.
inline constexpr std::uint32_t kTimeOfDay = 0x10000;

// Forces a schedule point on a thread that reached none of its own, at this instant of its code. The instant is the
// only one since the previous record at which the registers, the stack and the words that follow all have the recorded
// values. `memory`, if not 0, must match as well. If `varying` is a set of registers, the thread was in a loop that
// changes only them and those words. A thread at `ip` for which everything else matches may then be given their values:
// that is equivalent to executing the loop until then.
struct PreemptRecord {
  static constexpr RecordKind kKind = RecordKind::kPreempt;
  RecordHeader header;
  std::uint64_t step;  // schedule points executed before
  std::uint64_t ip;
  std::uint64_t registers;    // hash
  std::uint64_t stack;        // hash of 256 bytes from the stack pointer
  std::uint64_t vectors;      // hash of the low halves of the vector registers
  std::uint64_t memory;       // hash of private writable memory, with the words taken as 0; or 0
  std::uint64_t varying;      // bit i: general[i] varies; or kComputes | number of words; or kRecurs; plus stalled_ms()
  std::uint64_t general[17];  // r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, flags
};
static_assert(sizeof(PreemptRecord) == 200);

// PreemptRecord::varying: the thread computes, and is in no known loop. If `memory` is not 0, PageHashes follow the
// words.
inline constexpr std::uint64_t kComputes = std::uint64_t{1} << 63;
// The thread was in a loop that writes nothing and returns to this very state as long as no other thread runs. Earlier
// code may look the same, so the instant counts only the second time the state occurs.
inline constexpr std::uint64_t kRecurs = std::uint64_t{1} << 62;

// Bits 32 to 55 of PreemptRecord::varying: milliseconds since the thread's last schedule point, 0 in older recordings.
// A replay limits its search for the instant by them.
inline constexpr std::uint64_t kStalledShift = 32, kMostStalled = 0xffffff;
constexpr std::uint64_t with_stalled_ms(std::uint64_t varying, std::uint64_t milliseconds) {
  return varying | (milliseconds < kMostStalled ? milliseconds : kMostStalled) << kStalledShift;
}
constexpr std::uint64_t stalled_ms(const PreemptRecord& record) {
  return record.varying >> kStalledShift & kMostStalled;
}
constexpr std::uint64_t varying_of(const PreemptRecord& record) {
  return record.varying & ~(kMostStalled << kStalledShift);
}

// A word of memory that the interrupted loop changes, or that the thread changed recently.
struct NamedWord {
  std::uint64_t address;
  std::uint64_t value;
};

// For a thread that computes: identifies the instant without hashing all memory, and also in a run that makes a trace,
// in which the stacks hold other values. Followed, up to header.bytes, by two bytes for each page that `memory` covers:
// a part of the page's hash, or 0 if the page is all zeros.
struct PageHashes {
  std::uint64_t but_stacks;  // as `memory`, without the threads' stacks
};

// ---------------------------------------------------------------------------------------------------------
// Packed trace records: 16 bytes, or 24 with a third word. They have no RecordHeader; the tag distinguishes them.
//
//   word 0:  63........16 15   14    13........8 7......0
//            address 48   1  extra?   EventKind   aux/size
//   word 1:  63........16 15....0
//            pc 48        thread
//   word 2 (if extra?): the event's `extra`
//
// In a record of a memory access without extra word the low byte is log2(size) | kTraceValue | memory order << 4, and
// `extra` = size. With kTraceValue, word 2 is the event's `value`.
// ---------------------------------------------------------------------------------------------------------
inline constexpr std::uint16_t kTraceTag = 0x8000;
inline constexpr std::uint16_t kTraceExtra = 0x4000;
inline constexpr std::uint8_t kTraceValue = 8;

struct TraceRecord {
  std::uint64_t word0;
  std::uint64_t word1;
};

// True for the kinds whose form without extra word carries its size in the low byte.
constexpr bool is_access(EventKind kind) { return kind <= EventKind::kAtomicRmw; }

constexpr std::uint64_t pack_word0(EventKind kind, std::uint8_t low, std::uint64_t address, bool extra) {
  return address << 16 | kTraceTag | (extra ? kTraceExtra : 0) | static_cast<std::uint64_t>(kind) << 8 | low;
}
constexpr std::uint64_t pack_word1(std::uint64_t pc, ThreadId thread) { return pc << 16 | thread; }

constexpr EventKind kind_of(std::uint64_t word0) { return static_cast<EventKind>(word0 >> 8 & 0x3f); }

// True if the packed record that starts with `word0` holds the value of its access. Only the low 15 bits count.
constexpr bool holds_value(std::uint64_t word0) {
  return (word0 & (kTraceExtra | kTraceValue)) == kTraceValue && is_access(kind_of(word0));
}

// Bytes of the packed record that starts with `word0`.
constexpr std::uint32_t trace_record_bytes(std::uint64_t word0) {
  return (word0 & kTraceExtra) != 0 || holds_value(word0) ? 24 : 16;
}

// The effect of a call on kernel objects, which the core reports while tracing: a record of kind kKernelStepKind with
// the step in its low byte, `address` and `extra` as below. replayer/kernel_objects.h turns it into kSend and kReceive.
inline constexpr auto kKernelStepKind = static_cast<EventKind>(0x3f);
enum class KernelStep : std::uint8_t {
  kSends = 0,           // address = descriptor
  kReceives = 1,        // address = descriptor
  kReady = 2,           // address = epoll descriptor, extra = the data of the descriptor found ready
  kMadePipe = 3,        // address = descriptor to read, extra = to write
  kMadePair = 4,        // of sockets: address, extra = descriptors
  kMadeCounter = 5,     // address = descriptor of an event counter or timer
  kMadeSocket = 6,      // address = descriptor, extra = SocketKind
  kMadeSignals = 7,     // address = descriptor that signals are read from
  kMadeFifo = 8,        // extra = the hash of its name
  kMadeQueue = 9,       // address = descriptor, extra = the hash of the message queue's name
  kOpens = 10,          // before the file is open; extra = the hash of its name
  kOpened = 11,         // address = descriptor, extra = likewise
  kListens = 12,        // address = the socket that listens from now on
  kAccepted = 13,       // address = the socket that listens, extra = the new one
  kDuplicated = 14,     // address = descriptor, extra = the new one
  kClosed = 15,         // address = descriptor, extra = the last one of a range
  kWatches = 16,        // address = epoll descriptor | watched descriptor << kWatchedShift; extra = data
  kWatchesNoMore = 17,  // address = likewise
  kPasses = 18,         // address = socket, extra = descriptor sent through it
  kPassed = 19,         // address = socket, extra = descriptor received
  kGives = 20,          // address = KernelPlace, extra = which object of that kind
  kTakes = 21,          // likewise
  kLeaves = 22,         // the process ends or executes a program: readers of its descriptors notice
};
inline constexpr unsigned kWatchedShift = 24;
// Objects without a descriptor.
enum class KernelPlace : std::uint64_t {
  kTasks = 1,
  kFileLocks = 2,
  kNamedQueues = 3,    // one for each hash of a name
  kMessages = 4,       // System V: one for each identifier
  kSemaphores = 5,     // likewise
  kSemaphoreZero = 6,  // likewise: the fact that a semaphore is zero
  kFutex = 7,          // one for each key
  kFifo = 8,           // one for each hash of a name
};
// Sockets of different kinds cannot reach each other. `local`: of AF_UNIX, which never leaves the machine.
constexpr std::uint64_t socket_kind(bool local, bool stream) { return (local ? 1u : 0u) | (stream ? 2u : 0u); }

// Unpacks the record at `words`, which must start with kTraceTag set.
constexpr TraceEvent unpack_trace(const std::uint64_t* words) {
  TraceEvent event;
  event.address = words[0] >> 16;
  event.pc = words[1] >> 16;
  event.thread = static_cast<ThreadId>(words[1]);
  event.kind = kind_of(words[0]);
  const auto low = static_cast<std::uint8_t>(words[0]);
  if ((words[0] & kTraceExtra) != 0) {
    event.extra = words[2];
    event.aux = low;
  } else if (is_access(event.kind)) {
    event.extra = std::uint64_t{1} << (low & 7);
    event.aux = static_cast<std::uint8_t>(low >> 4);
    event.has_value = holds_value(words[0]);
    if (event.has_value) event.value = words[2];
  } else {
    event.aux = low;
  }
  return event;
}

}  // namespace reweave::wire
