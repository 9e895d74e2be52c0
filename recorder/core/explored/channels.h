// Pipes, event counters and pairs of sockets that the run has to itself: what explored runs use in place of the
// kernel's, so that what a thread finds in them depends on the schedule alone. They behave as the kernel's do
// (pipe(7), eventfd(2), unix(7)), but for how much fits into a pair of sockets: there the kernel counts its own
// bookkeeping as well. Nothing here waits; what would is -EAGAIN.
#pragma once

#include "recorder/core/base/sys.h"

namespace reweave::core {

// Memory of the program's to read into or write from.
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
inline constexpr std::uint64_t kQueueBytes = 256 << 10;  // of memory that a queue needs; a power of two

// Bytes on their way in one direction.
struct ByteQueue {
  std::byte* memory;               // kQueueBytes
  std::uint64_t head, tail;        // bytes ever written and read
  std::uint32_t in_use;            // files that have it, open or not
  std::uint32_t readers, writers;  // open files
  // Of a pipe, the pages that hold its bytes, as its room is counted in them: how far each is written, and what of it
  // is still to be read.
  bool paged;
  bool messages;  // each write is one, behind its length in four bytes
  bool cut;       // the last that was read was longer than there was room for
  std::uint32_t message_count;
  std::uint32_t first_slot, slots;
  std::uint16_t written[kPipeSlots], left[kPipeSlots];
  std::uint64_t arrivals, departures;  // changes that whoever waits for one end is told of
};

enum class ChannelKind : std::uint8_t { kPipe, kCounter, kSocket, kProcess };

// One open file: an end of a pipe, a counter, one of two sockets; or a process, which it names (pidfd_open(2)).
struct ChannelFile {
  ChannelKind kind;
  bool nonblocking;
  bool semaphore;            // of a counter: reads take one
  std::uint32_t references;  // descriptors, and calls under way
  ByteQueue* in;             // null: not open for reading
  ByteQueue* out;
  ChannelFile* peer;               // of a socket, while it is open
  int error;                       // of a socket: what its next call fails with, or 0
  std::uint64_t counter, changes;  // of a process: not 0 once it has ended
  std::uint16_t process;           // index
  std::int64_t limits[2];          // of a socket: how long a read and a write wait, in nanoseconds; 0: for ever
};

// All return what the system call does, at once: -EAGAIN if it would have to wait.
long read_channel(ChannelFile& file, const Spans& to, bool peek);
// As much of `from`, without its first `done` bytes, as there is room for.
long write_channel(ChannelFile& file, const Spans& from, std::uint64_t done);
// shutdown(2) of a socket; `how` as there.
long shut_down(ChannelFile& file, long how);
// The last reference is gone.
void close_channel(ChannelFile& file);

// The bits of poll(2), as epoll(7) numbers them, that hold now.
std::uint32_t ready_bits(const ChannelFile& file);
// Grows whenever something happens that edge-triggered watchers are told of.
std::uint64_t changes_of(const ChannelFile& file);
// A write of so many bytes, or to a counter of that value, need not wait.
bool has_room(const ChannelFile& file, std::uint64_t wanted);
// FIONREAD.
std::uint64_t bytes_to_read(const ChannelFile& file);

}  // namespace reweave::core
