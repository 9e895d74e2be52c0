// Descriptors in transit through a socket of the run's own (unix(7), SCM_RIGHTS): they are kept with the queue's bytes
// that they were sent with, and are received with the first of these.
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/files/descriptor_tables.h"

namespace reweave::core {

inline constexpr std::uint32_t kMostPassed = 32;

struct PassedFiles {
  const ByteQueue* queue;  // null: not in use
  std::uint64_t at;        // the byte of the queue with which they are received
  std::uint32_t count;
  Descriptor files[kMostPassed];
};

// A new entry; null: too many are in transit.
PassedFiles* new_passed_files();
// Returns the entry received with byte `at`; null if there is none.
PassedFiles* passed_files_at(const ByteQueue& queue, std::uint64_t at);
// Returns the number of bytes that one call may read from `at` on: it stops before bytes with other descriptors.
std::uint64_t bytes_to_next_passed(const ByteQueue& queue, std::uint64_t at);
// Closes the descriptors of an entry that was not received.
void drop_passed_files(PassedFiles& files);
// The same for all entries of a queue that is gone.
void drop_passed_files(const ByteQueue& queue);

}  // namespace reweave::core
