// Common parts of the guard (core/guard.h) and the supervisor that starts it (supervisor/target/guard.h): how the guard
// is started, and how the processes of a target are found.
//
// `Call` makes a system call, given its number and arguments; a negative result means failure.
#pragma once

#include <linux/stat.h>
#include <sys/syscall.h>

#include <cstdint>

#include "recorder/arena.h"

namespace reweave {

// The guard is the program `reweave-core` under this name, with these descriptors. Its arguments, if any: the program
// to execute after the target was killed, and that program's arguments, a verb and the recording.
inline constexpr char kGuardName[] = "reweave-guard";
inline constexpr long kGuardArguments = 4;
inline constexpr int kGuardLifeline = 0;  // reads end-of-file when the supervisor is gone
inline constexpr int kGuardArena = 1;
// The supervisor writes this to the lifeline when there is nothing left to guard.
inline constexpr char kDismissed = 'd';

namespace holders {

inline constexpr long kInRoot = -100, kEmptyPath = 0x1000;  // AT_FDCWD, AT_EMPTY_PATH
inline constexpr long kFolder = 0x90000;                    // O_DIRECTORY | O_CLOEXEC
inline constexpr long kKill = 9;

// The directory entries of getdents64(2).
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[];
};

struct Identity {
  std::uint32_t major, minor;
  std::uint64_t inode;
  bool operator==(const Identity&) const = default;
};

template <typename Call>
bool identify(Call call, long folder, const char* path, Identity& identity) {
  struct statx status = {};
  if (call(SYS_statx, folder, path, path[0] == 0 ? kEmptyPath : 0, STATX_INO, &status) < 0) return false;
  identity = {status.stx_dev_major, status.stx_dev_minor, status.stx_ino};
  return true;
}

// `name` as a number, or 0.
inline long number_of(const char* name) {
  long number = 0;
  for (; *name >= '0' && *name <= '9' && number < 1 << 30; name++) number = number * 10 + (*name - '0');
  return *name == 0 ? number : 0;
}

// True if the process with the folder `name` in /proc has this arena at the target's descriptor number.
template <typename Call>
bool has_arena(Call call, long proc, const char* name, const Identity& arena) {
  static_assert(kArenaFd == 1000);
  constexpr char kDescriptor[] = "/fd/1000";
  char path[32] = {};
  std::uint32_t length = 0;
  while (name[length] != 0 && length < 16) path[length] = name[length], length++;
  for (std::uint32_t i = 0; i < sizeof kDescriptor; i++) path[length + i] = kDescriptor[i];
  Identity found = {};
  return identify(call, proc, path, found) && found == arena;
}

// Kills the process whose folder in /proc is `name`, through that folder, because the number may mean another process
// in this PID namespace.
template <typename Call>
bool end(Call call, long proc, const char* name) {
  const long process = call(SYS_openat, proc, name, kFolder);
  if (process < 0) return false;
  const bool is_ended = call(SYS_pidfd_send_signal, process, kKill, 0, 0) >= 0;
  call(SYS_close, process);
  return is_ended;
}

}  // namespace holders

// Kills every process that has the arena, including those just forked, and those that have announced their end but wait
// for the supervisor to take their records. Returns the number of processes found; negative if /proc cannot be read.
template <typename Call>
long kill_holders(Call call, long arena_fd) {
  alignas(holders::Entry) char buffer[8192];
  holders::Identity arena = {};
  const long proc = call(SYS_openat, holders::kInRoot, "/proc", holders::kFolder);
  if (proc < 0) return -1;
  long killed = holders::identify(call, arena_fd, "", arena) ? 0 : -1;
  const long self = call(SYS_getpid);
  for (long bytes; killed >= 0 && (bytes = call(SYS_getdents64, proc, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < bytes; at += reinterpret_cast<const holders::Entry*>(buffer + at)->bytes) {
      const char* name = reinterpret_cast<const holders::Entry*>(buffer + at)->name;
      const long pid = holders::number_of(name);
      if (pid > 1 && pid != self && holders::has_arena(call, proc, name, arena))
        killed += holders::end(call, proc, name);
    }
  call(SYS_close, proc);
  return killed;
}

}  // namespace reweave
