// The target's seccomp filters, and calls that wait until a supervisor answers them, in the runtime state
// (core/syscalls/seccomp/seccomp.h, core/syscalls/seccomp/seccomp_listener.h).
//
// Thread rule: the baton holder only.
#pragma once

#include <cstdint>

namespace reweave {

inline constexpr std::uint32_t kMaxSeccompFilters = 4096, kMaxSeccompInstructions = 128 << 10;
struct SeccompFilter {
  std::uint32_t older;          // number of the next older filter, or 0
  std::uint32_t start, length;  // in seccomp_instructions
  std::uint32_t notifies;       // the flags with which it was installed, if it has a listener; else 0
  std::uint64_t listener;       // live: inode of the listener's pipe
  std::int32_t bell;            // live: descriptor of the pipe's other end, in each process that has the filter
};

enum class NoticeState : std::uint32_t { kNone = 0, kNew, kReceived, kAnswered };
// A descriptor on its way to the waiting thread (SECCOMP_IOCTL_NOTIF_ADDFD). kWanted: the thread is to open a socket
// for it. kOpen: the socket is open. kSent: the descriptor is in it.
enum class GiftState : std::uint32_t { kNone = 0, kWanted, kOpen, kSent };

// Live: what a thread waits for whose filter answered SECCOMP_RET_USER_NOTIF.
struct SeccompNotice {
  NoticeState state;
  std::uint32_t filter;  // number of the filter (from 1)
  std::int32_t tid;      // of the waiting thread, because a later thread may have the same place
  std::uint32_t flags;   // of the answer
  std::uint64_t id;
  std::int64_t value;  // the answer's
  std::int32_t error;  // likewise
  GiftState gift;
  std::uint32_t giver;                        // ID of the thread that gives
  std::int32_t gift_socket, gift_own_socket;  // descriptors of this thread: for the giver, and for itself
  std::uint32_t gift_flags, gift_open_flags;  // SECCOMP_ADDFD_FLAG_*; O_CLOEXEC or 0
  std::int32_t gift_number;                   // the wanted descriptor
  std::int32_t gift_error;                    // why nothing was sent, or 0
  // For a thread that gives: how that ended.
  std::uint32_t is_given;  // 1: it has ended
  std::int32_t given;      // the descriptor's number in the other process, or an error
  struct {
    std::int32_t number;
    std::uint32_t architecture;
    std::uint64_t ip, args[6];
  } data;  // struct seccomp_data
};

}  // namespace reweave
