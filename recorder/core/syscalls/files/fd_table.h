// What the runtime knows of the target's descriptors: whether a call on one may block, and which of them lead to
// the first process's standard output and error. Kept in the arena, for it must survive exec.
#pragma once

#include <sys/stat.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

// True for descriptors that the supervisor gave us and the target may not see.
inline bool is_our_fd(long fd) { return fd >= kArenaFd && fd < kArenaFd + kReservedFds; }

// What /proc says that the descriptor leads to, as text with its end; empty if it says nothing. The length, or the
// error of readlink(2).
long path_of_fd(long fd, char* to, std::size_t room);

// Recording only: asks the kernel what `fd` is, the first time.
bool fd_may_block(long fd);
// Recording only: the target has just been told this of `fd`, so that the kernel need not be asked again.
void note_status(long fd, const struct stat& status);
// Recording only: what the target was told of `fd` by the call before this one, if `fd` is what it opened last. Null if
// it was not. Processes that we do not record may have changed the file since.
const struct stat* told_status(long fd);
// Recording only: `fd` is a regular file of the proc file system.
bool is_proc_file(long fd);
// Recording only: `fd` is of a file system that a process of the tree may serve (FUSE). Lends the baton.
bool is_served(long fd);
// Recording only: `fd` was opened by a name that may lead to our standard output or error, such as /dev/stdout.
void note_stream(long fd);
// Recording only: `fd` was another descriptor's before, of this process or another, which may lead to our standard
// output or error.
void note_received(long fd);
// wire::kWritesStdout, wire::kWritesStderr or 0.
std::uint32_t fd_stream(long fd);
// In every mode: a socket whose calls have time limits, after which a handler's SA_RESTART starts none again
// (signal(7)).
void set_times_out(long fd, bool times_out);
bool times_out(long fd);
// `fd` is a new socket of the address family, or one that was accepted at `listener`.
void note_socket(long fd, long family);
void note_accepted(long fd, long listener);
// Recording only: `fd` is a copy of a file of /proc that the program is shown edited, or whether it is.
void note_shown(long fd);
bool is_shown(long fd);
// Recording only: `fd` was opened by that name, with those flags.
void note_opened(long fd, const char* path, long flags);
// Recording only: how `fd` was opened, if no other file was since. Null if that is not known.
const OpenedFile* opened_file(long fd);
// `fd` is now something new.
void forget_fd(long fd);
void forget_fds(long first, long last);
// `to` is now the same as `from`.
void copy_fd(long from, long to);
// What is known of the kept file behind `fd` (kept_files.h): its number plus one, kNotKept, or 0 if nobody
// asked. Null if descriptors of that number are not followed.
std::uint16_t* kept_entry(long fd);
// The first process: descriptors that it got from outside.
void mark_standard_streams();

}  // namespace reweave::core
