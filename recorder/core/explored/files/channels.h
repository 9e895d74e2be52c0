// Pipes, event counters and socket pairs of the run itself: explored runs use them instead of the kernel's, so that
// what a thread finds in them depends on the schedule alone. They behave like the kernel's (pipe(7), eventfd(2),
// unix(7)), except for the capacity of a socket pair, where the kernel counts its own bookkeeping too. Nothing here
// waits; an operation that would returns -EAGAIN.
#pragma once

#include "recorder/core/base/sys.h"

namespace reweave::core {

// Memory of the program to read into or write from.
struct Span {
  std::byte* data;
  std::uint64_t bytes;
};
struct Spans {
  const Span* list;
  std::uint32_t count;
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count; i++) sum += list[i].bytes;
    return sum;
  }
};

inline constexpr std::uint32_t kPipeSlots = 16;
inline constexpr std::uint64_t kSlotBytes = 4096;
inline constexpr std::uint64_t kSocketBytes = 212992;    // net.core.wmem_default
inline constexpr std::uint64_t kQueueBytes = 256 << 10;  // memory of a queue; a power of two

// Bytes in transit in one direction.
struct ByteQueue {
  std::byte* memory;               // kQueueBytes
  std::uint64_t head, tail;        // bytes ever written and read
  std::uint32_t in_use;            // files that use it, open or not
  std::uint32_t readers, writers;  // open files
  // `paged`: a pipe, whose capacity is counted in pages. `written[i]` bytes of a page are written, `left[i]` of them
  // are unread.
  bool paged;
  bool messages;  // each write is a message, preceded by its length in four bytes
  bool cut;       // the last message read was truncated
  std::uint32_t message_count;
  std::uint32_t first_slot, slots;
  std::uint16_t written[kPipeSlots], left[kPipeSlots];
  std::uint64_t arrivals, departures;  // changes reported to those who watch one end
};

enum class ChannelKind : std::uint8_t { kPipe, kCounter, kSocket, kProcess };

// One open file: an end of a pipe, a counter, one of two sockets, or a process (pidfd_open(2)).
struct ChannelFile {
  ChannelKind kind;
  bool nonblocking;
  bool semaphore;            // of a counter: a read takes one
  std::uint32_t references;  // descriptors, and calls in progress
  ByteQueue* in;             // null: not open for reading
  ByteQueue* out;
  ChannelFile* peer;               // of a socket, while it is open
  int error;                       // of a socket: the error of its next call, or 0
  std::uint64_t counter, changes;  // of a process: not 0 once it has ended
  std::uint16_t process;           // index
  std::int64_t limits[2];          // of a socket: timeouts of a read and a write, in nanoseconds; 0: none
};

// All return the system call's result at once: -EAGAIN if it would have to wait.
long read_channel(ChannelFile& file, const Spans& to, bool peek);
// Writes as much of `from`, without its first `done` bytes, as fits.
long write_channel(ChannelFile& file, const Spans& from, std::uint64_t done);
// shutdown(2) of a socket.
long shut_down(ChannelFile& file, long how);
// Closes a file whose last reference was dropped.
void close_channel(ChannelFile& file);

// The bits of poll(2) that hold now, numbered as in epoll(7).
std::uint32_t ready_bits(const ChannelFile& file);
// Returns a number that grows whenever something happens that edge-triggered watchers must be told about.
std::uint64_t changes_of(const ChannelFile& file);
// True if a write of that many bytes, or of that value to a counter, need not wait.
bool has_room(const ChannelFile& file, std::uint64_t wanted);
// The number of bytes that FIONREAD reports.
std::uint64_t bytes_to_read(const ChannelFile& file);

}  // namespace reweave::core
