// Messages about checkpoints of a replay, sent over sockets that preserve message boundaries. The supervisor sends them
// to the process that will become a checkpoint (kCheckpointFd), and the processes that start copies send them to the
// checkpoint (core/syscalls/tasks/copies.h).
#pragma once

#include <cstdint>

namespace reweave {

// Values of RunStatus::held.
inline constexpr std::uint32_t kHeld = 1, kToMakeCheckpoint = 2;

// Supervisor to held process, with the descriptor by which the checkpoint will be asked for copies.
struct CheckpointRequest {
  std::uint32_t reserved;
};
// Sent by the checkpoint, or by the held process if no checkpoint could be made.
struct CheckpointAnswer {
  std::int32_t pid;  // the checkpoint's; 0: there is none
  char why[124];     // then the reason: a few words that follow "because"
};

enum class CopyCall : std::uint32_t {
  kStart = 1,  // with the descriptors of CopyDescriptor; answered by the copy's process ID, or a negative error
  kAwait = 2   // with a descriptor for the answer; answered by the status of that copy, which has ended,
               // or a negative error; -EAGAIN: its tracer has yet to notice the end
};
struct CopyRequest {
  CopyCall call;
  std::int32_t pid;  // of kAwait
};
struct CopyAnswer {
  std::int32_t value;
};
// The descriptors passed with kStart, in this order.
enum CopyDescriptor { kCopyAnswers, kCopyArena, kCopyOutput, kCopyErrors, kCopyCheckpoints, kCopyDescriptors };

}  // namespace reweave
