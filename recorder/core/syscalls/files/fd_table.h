// State that the core keeps about the target's descriptors: whether a call on one may block, and which of them refer to
// the first process's standard output and error. It is in the arena because it must survive exec.
#pragma once

#include <sys/stat.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

// True for descriptors that the supervisor passed to the core and the target must not see.
inline bool is_our_fd(long fd) { return fd >= kArenaFd && fd < kArenaFd + kReservedFds; }

// The path of the descriptor according to /proc, NUL-terminated; empty if there is none. Returns the length, or the
// error of readlink(2).
long path_of_fd(long fd, char* to, std::size_t room);
// True if `path` leads to the file with this status. The path of a descriptor does not if the file no longer has a
// name, or is in a mount that was detached or covered by another one.
bool leads_to(const char* path, const struct stat& status);

// Recording only: true if a call on `fd` may block. Asks the kernel only once what `fd` is.
bool fd_may_block(long fd);
// Recording only: the target has just received this status of `fd`, so that the kernel need not be asked again.
void note_status(long fd, const struct stat& status);
// Recording only: the status of `fd` that the target received in its previous call, if `fd` is what it opened last;
// otherwise null. Processes outside the recording may have changed the file since.
const struct stat* told_status(long fd);
// Recording only: true if `fd` is a regular file in a proc file system.
bool is_proc_file(long fd);
// Recording only: true if `fd` is in a file system that a process of the tree may serve (FUSE). Lends the baton.
bool is_served(long fd);
// Recording only: `fd` was opened by a name that may refer to standard output or error, such as /dev/stdout.
void note_stream(long fd);
// Recording only: `fd` is a copy of another descriptor, of this or another process, which may refer to standard output
// or error.
void note_received(long fd);
// The standard stream that `fd` refers to: wire::kWritesStdout, wire::kWritesStderr or 0.
std::uint32_t fd_stream(long fd);
// Every mode: a socket with timeouts, whose calls are not restarted after a handler even with SA_RESTART (signal(7)).
void set_times_out(long fd, bool times_out);
bool times_out(long fd);
// Notes that `fd` is a new socket of the address family, or was accepted at `listener`.
void note_socket(long fd, long family);
void note_accepted(long fd, long listener);
// Recording only. note_shown notes that `fd` is an edited copy of a file of /proc, made for the program; is_shown is
// true for such descriptors.
void note_shown(long fd);
bool is_shown(long fd);
// Recording only: `fd` was opened by that name with those flags.
void note_opened(long fd, const char* path, long flags);
// Recording only: how `fd` was opened, if no other file was opened since; otherwise null.
const OpenedFile* opened_file(long fd);
// `fd` now refers to something new.
void forget_fd(long fd);
void forget_fds(long first, long last);
// `to` is now a duplicate of `from`.
void copy_fd(long from, long to);
// State of the kept file behind `fd` (kept_files.h): its number plus one, kNotKept, or 0 if unknown. Null if
// descriptors with that number are not tracked.
std::uint16_t* kept_entry(long fd);
// The first process: marks the descriptors that it got from outside.
void mark_standard_streams();

}  // namespace reweave::core
