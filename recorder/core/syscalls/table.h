// The table of system calls, one row each in number order. Recording, replay and dump derive from it.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Call;

// The ways to carry out a call.
enum class CallKind : std::uint8_t {
  kRecorded,     // made live when recording; its result and outputs are injected when replaying
  kHandled,      // its handler decides
  kAsked,        // its handler makes and logs it live; in all other modes it is answered without being made
  kYield,        // sched_yield
  kUnsupported,  // stops the run; `why` says why and what to do instead
  kRefused,      // fails with ENOSYS, as on a kernel without it; programs have fallbacks
  kDenied,       // fails with EPERM, as in a container that forbids it
};

// Memory of the target that a call writes.
enum class OutKind : std::uint8_t {
  kNone = 0,
  kFixed,       // `size` bytes at args[arg]
  kByResult,    // result * size bytes at args[arg], which has room for args[count] * size
  kByCount,     // args[count] * size bytes at args[arg]
  kSocket,      // address buffer at args[arg] with its length in-out at args[count]
  kVector,      // iovec array at args[arg] of args[count] entries, `result` bytes in all
  kInOutCount,  // like kByCount, and also read by the kernel
  kInOutFixed,  // like kFixed, and also read by the kernel
  kByPage,      // at args[arg], one byte for each page of args[count] bytes
  kIn,          // read by the kernel: args[count] bytes at args[arg]
  kMessage,     // msgrcv: a long, then `result` bytes, at args[arg], with room for args[count] bytes
  kBits,        // a bit set at args[arg] of args[count] - 1 bits, in words of 64
};

struct Out {
  OutKind kind = OutKind::kNone;
  std::uint8_t arg = 0;
  std::uint8_t count = 0;
  std::uint16_t size = 0;
};

// Bits of SyscallRow::flags.
inline constexpr std::uint64_t kMayBlock = 1;                // leaves the baton, unless args[0] is a regular file
inline constexpr std::uint64_t kBlocks = 2;                  // leaves the baton in any case
inline constexpr std::uint64_t kRestarts = 4;                // is restarted after a handler with SA_RESTART
inline constexpr std::uint64_t kNewFd = 8;                   // the result is a new descriptor
inline constexpr std::uint64_t kFirstIsFd = 16;              // args[0] is a descriptor
inline constexpr std::uint64_t kWritesStream = 32;           // writes args[2] bytes at args[1]; a kVector is input
inline constexpr std::uint64_t kNewFdPair = 64;              // two new descriptors at its output
inline constexpr std::uint64_t kChangesFile = 256;           // may change the contents or the size of a file
inline constexpr std::uint64_t kWritesOnError = 128;         // writes its outputs even if it fails
inline constexpr std::uint64_t kWritesIfInterrupted = 1024;  // writes its outputs only if a signal interrupts it
inline constexpr std::uint64_t kWritesIfPositive = 8192;     // writes its outputs only if the result is positive
inline constexpr std::uint64_t kFirstIsFolder =
    4096;  // args[0] is a folder's descriptor, args[1] a path relative to it
// The handler only reads memory before it calls recorded_call. If it meets unmapped memory, the call is made all the
// same, because the kernel may report another error.
inline constexpr std::uint64_t kAsksKernel = 2048;
inline constexpr std::uint64_t kNeedsFrame = 512;    // changes or copies all registers: needs the kernel's signal frame
inline constexpr std::uint64_t kOpens = 1ull << 14;  // open, openat: O_ flags and a mode, as numbers after the path
inline constexpr std::uint64_t kFlagsInMemory =
    1ull << 15;  // its flags are the first word at the address in argument `flags`
inline constexpr std::uint64_t kBetweenPipes = 1ull << 16;    // moves the contents of pipes
inline constexpr std::uint64_t kPassesFds = 1ull << 17;       // may pass descriptors to another process
inline constexpr std::uint64_t kMakesSocket = 1ull << 18;     // of family args[0]
inline constexpr std::uint64_t kAccepts = 1ull << 19;         // accepts a connection on args[0]
inline constexpr std::uint64_t kDuplicates = 1ull << 20;      // duplicates args[0] under another number
inline constexpr std::uint64_t kPollsList = 1ull << 21;       // waits for a list of descriptors
inline constexpr std::uint64_t kPollsSets = 1ull << 22;       // waits for sets of descriptors
inline constexpr std::uint64_t kPollsEvents = 1ull << 23;     // waits on an epoll, or changes its interest list
inline constexpr std::uint64_t kMilliseconds = 1ull << 24;    // its time limit is in milliseconds
inline constexpr std::uint64_t kMicroseconds = 1ull << 25;    // its time limit counts microseconds, not nanoseconds
inline constexpr std::uint64_t kCountsDown = 1ull << 26;      // when restarted, it waits only for the time that is left
inline constexpr std::uint64_t kMaskApart = 1ull << 27;       // argument `mask` points to the mask's address and size
inline constexpr std::uint64_t kFailsIfStopped = 1ull << 28;  // a stop ends it with EINTR (signal(7))
inline constexpr std::uint64_t kWaitsForChildren = 1ull << 29;  // wait4, waitid
inline constexpr std::uint64_t kHarmless = 1ull << 30;          // without a recorded answer, success is assumed
inline constexpr std::uint64_t kStrictMode = 1ull << 31;        // allowed in seccomp's strict mode (seccomp(2))

inline constexpr std::uint64_t kMakesProcess = 1ull << 32;  // or a thread
inline constexpr std::uint64_t kMakesFolder = 1ull << 33;
inline constexpr std::uint64_t kTellsPlace = 1ull << 34;  // reads into one buffer; where it began is known afterwards
inline constexpr std::uint64_t kSuspends = 1ull << 35;    // waits for a handler to run
inline constexpr std::uint64_t kTellsStatus = 1ull
                                              << 36;  // struct stat of a descriptor, or of an empty path relative to it
inline constexpr std::uint64_t kSeeks = 1ull << 37;
inline constexpr std::uint64_t kHasMessage = 1ull << 38;  // args[1] is a struct msghdr
inline constexpr std::uint64_t kSendsWhole = 1ull << 39;  // sends a whole message to a socket
inline constexpr std::uint64_t kListsFolder = 1ull << 40;

// The change that a call with kChangesFile makes to the file.
enum class HowChanged : std::uint8_t {
  kUnknown = 0,
  kAtPosition,     // writes at the descriptor's position
  kAtOffset,       // writes at args[offset], or at the descriptor's position if that is -1
  kAtOffsetThere,  // writes at the offset stored at args[offset], or at the descriptor's position if that is null
  kSize,           // changes only the size
  kAllocates,      // fallocate
};

// The arguments with a given meaning (argument_places.inc); -1: the call has none.
struct CallPlaces {
  std::int8_t path = -1;       // the path that it follows
  std::int8_t from = -1;       // descriptors that it copies between
  std::int8_t to = -1;         // also the number for a duplicate
  std::int8_t in_offset = -1;  // address of the offset to copy from
  std::int8_t offset = -1;     // offset in the file
  std::int8_t count = -1;      // number of bytes to copy, or of messages
  std::int8_t clock = -1;
  std::int8_t flags = -1;  // flags specific to the call: O_, MSG_, RWF_, SPLICE_F_, TIMER_ABSTIME, AT_
  std::int8_t limit = -1;  // time limit
  std::int8_t mask = -1;   // signals blocked during the call
  std::int8_t pid = -1;    // process that receives a signal
  std::int8_t tid = -1;
  std::int8_t signal = -1;
  std::int8_t info = -1;  // siginfo_t of the signal, or of a child
  std::int8_t fd = -1;    // a descriptor that is not the first argument
  HowChanged change = HowChanged::kUnknown;
};

// Whether one recorded answer also serves further calls that were not recorded, because the call only reads state or
// would return the same result again.
enum class Repeats : std::uint8_t {
  kNever = 0,
  kAlways,
  kUnlessDuplicating,  // fcntl
  kUnlessSetting,      // prlimit64
  kOfTerminal,         // ioctl: the requests that only read a terminal's state
};

// When an explored run uses `SyscallRow::explored` to answer (the order is in explored/model.h).
enum class ExploredStep : std::uint8_t {
  kNone = 0,
  kNewFile,  // it creates a descriptor of the run's own
  kOwnFile,  // args[0] is such a descriptor
  kTimer,    // it concerns a timer of the run's own, or none
  kKnown,    // the run knows the answer
  kLast,     // the recording has no answer
};

struct SyscallRow {
  std::uint16_t number;
  const char* name;
  CallKind kind;
  std::uint8_t argument_count;
  std::uint64_t flags;
  Out outs[4];
  long (*handler)(Call&);
  const char* why;
  std::uint8_t ints = 0;   // arguments of which the kernel uses only 32 bits (int_arguments.inc)
  std::uint8_t paths = 0;  // arguments that are paths or names (path_arguments.inc)
  CallPlaces at = {};
  Repeats repeats = Repeats::kNever;  // repeated_calls.inc
  ExploredStep step = ExploredStep::kNone;
  bool (*explored)(Call&, long& result) = nullptr;
  void (*before)(const Call&) = nullptr;              // tracing, before the call (kernel_step_rows.inc)
  void (*after)(const Call&, long result) = nullptr;  // tracing, after the call unless it failed
};

// nanosleep, clock_nanosleep.
inline bool is_sleep(const SyscallRow& row) { return (row.flags & (kCountsDown | kMilliseconds)) == kCountsDown; }
// True if the call returns the sender of what it read.
inline bool tells_sender(const SyscallRow& row) { return row.outs[1].kind == OutKind::kSocket; }
// True if the call with these arguments returns the sender. Without a buffer for the address the kernel does not look
// at the length.
inline bool asks_for_sender(const SyscallRow& row, const long (&arguments)[6]) {
  return tells_sender(row) && arguments[4] != 0 && arguments[5] != 0;
}

// The row of that number; unknown numbers get a row of kind kRefused.
const SyscallRow* find_row(long number);

}  // namespace reweave::core
