// The table of system calls: one row each, in number order, from which recording, replay and dump derive.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Call;

// How a call is carried out.
enum class CallKind : std::uint8_t {
  kRecorded,     // made live when recording; its result and outputs are injected when replaying
  kHandled,      // its handler decides
  kYield,        // sched_yield
  kUnsupported,  // stops the run; `why` says what and what to do
  kRefused,      // fails with ENOSYS as on a kernel without it; programs fall back
  kDenied,       // fails with EPERM as in a container that forbids it
};

// What a call writes to the target's memory.
enum class OutKind : std::uint8_t {
  kNone = 0,
  kFixed,       // `size` bytes at args[arg]
  kByResult,    // result * size bytes at args[arg], whose room is args[count] * size
  kByCount,     // args[count] * size bytes at args[arg]
  kSocket,      // address buffer at args[arg] with its length in-out at args[count]
  kVector,      // iovec array at args[arg] of args[count] entries, `result` bytes in all
  kInOutCount,  // as kByCount, and read by the kernel as well
  kInOutFixed,  // as kFixed, and read by the kernel as well
  kByPage,      // a byte for each page of args[count] bytes at args[arg]
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
inline constexpr std::uint32_t kMayBlock = 1;                // leaves the baton, unless args[0] is a regular file
inline constexpr std::uint32_t kBlocks = 2;                  // leaves the baton in any case
inline constexpr std::uint32_t kRestarts = 4;                // starts over after a handler with SA_RESTART
inline constexpr std::uint32_t kNewFd = 8;                   // the result is a new descriptor
inline constexpr std::uint32_t kFirstIsFd = 16;              // args[0] is a descriptor
inline constexpr std::uint32_t kWritesStream = 32;           // writes args[2] bytes at args[1]; vectors: kVector input
inline constexpr std::uint32_t kNewFdPair = 64;              // two new descriptors at its output
inline constexpr std::uint32_t kChangesFile = 256;           // may change the contents or the size of a file
inline constexpr std::uint32_t kWritesOnError = 128;         // writes its outputs although it fails
inline constexpr std::uint32_t kWritesIfInterrupted = 1024;  // writes its outputs only if a signal ends it
inline constexpr std::uint32_t kWritesIfPositive = 8192;     // writes its outputs only if the result is above 0
inline constexpr std::uint32_t kFirstIsFolder = 4096;        // args[0] is a folder's descriptor, args[1] a path from it
// If the handler, which only reads until it comes to recorded_call, meets memory that is not there, the call is made
// all the same, for the kernel may have another error to tell.
inline constexpr std::uint32_t kAsksKernel = 2048;
inline constexpr std::uint32_t kNeedsFrame = 512;  // changes or copies all registers: the kernel's signal frame

struct SyscallRow {
  std::uint16_t number;
  const char* name;
  CallKind kind;
  std::uint8_t argument_count;
  std::uint32_t flags;
  Out outs[4];
  long (*handler)(Call&);
  const char* why;
  std::uint8_t ints = 0;   // arguments of which the kernel looks at 32 bits (int_arguments.inc)
  std::uint8_t paths = 0;  // arguments that are paths or names (path_arguments.inc)
};

// The row of that number; calls without one get a row of kind kRefused.
const SyscallRow* find_row(long number);

}  // namespace reweave::core
