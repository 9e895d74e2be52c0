// Descriptors on their way through a socket of the run's own (unix(7), SCM_RIGHTS): they lie in its queue beside the
// bytes that they were sent with, and come with the first of those.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/descriptor_tables.h"

namespace reweave::core {

inline constexpr std::uint32_t kMostPassed = 32;

struct PassedFiles {
  const ByteQueue* queue;  // null: not in use
  std::uint64_t at;        // the byte of the queue that they come with
  std::uint32_t count;
  Descriptor files[kMostPassed];
};

// Room for some; null: too many are on their way.
PassedFiles* new_passed_files();
// Those that come with byte `at`; null: none do.
PassedFiles* passed_files_at(const ByteQueue& queue, std::uint64_t at);
// How many bytes from `at` on can be read together: those with which others come are read by another call.
std::uint64_t bytes_to_next_passed(const ByteQueue& queue, std::uint64_t at);
// Nobody gets those of them that are still there.
void drop_passed_files(PassedFiles& files);
// The queue is gone, with what is in it.
void drop_passed_files(const ByteQueue& queue);

}  // namespace reweave::core
