// The kernel generates a file of /proc when it is read from its start. So a program that waits for a process to stop
// opens its status once and seeks to the start for each look. The copy is then generated again as well.
#include "recorder/core/syscalls/proc/shown_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/proc/own_maps.h"
#include "recorder/core/syscalls/proc/own_status.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// The file that the descriptor is a copy of; null if it is no copy.
const char* shown_path(long fd, char* link, std::size_t room) {
  constexpr const char *kBegin = "/memfd:", *kEnd = " (deleted)";
  path_of_fd(fd, link, room);
  const std::size_t length = string_length(link), end = string_length(kEnd);
  if (!starts_with(link, kBegin) || length < end || !string_equal(link + length - end, kEnd)) return nullptr;
  link[length - end] = 0;
  return link + string_length(kBegin);
}

void refresh(long fd) {
  char link[256];
  const char* path = shown_path(fd, link, sizeof link);
  if (path == nullptr) return;
  if (is_own_maps(path))
    refresh_own_maps(fd, path);
  else
    refresh_status(fd, thread_of_status(path), path);
}

const char* path_at(const Call& call, int slot) { return reinterpret_cast<const char*>(call.args[slot]); }

}  // namespace

bool opens_shown(const Call& call, int slot) {
  return is_own_maps(path_at(call, slot)) || thread_of_status(path_at(call, slot)) != nullptr;
}

long open_shown(Call& call, int slot) {
  const char* path = path_at(call, slot);
  const long flags = call.args[slot + 1];
  const long result =
      is_own_maps(path) ? open_own_maps(path, flags) : open_status(*thread_of_status(path), path, flags);
  if (!is_error(result)) note_shown(result);
  return complete(call, result);
}

long handle_lseek(Call& call) {
  if (live() && call.args[1] == 0 && call.args[2] == SEEK_SET && is_shown(call.args[0])) refresh(call.args[0]);
  return recorded_call(call);
}

long handle_pread(Call& call) {
  if (live() && call.args[3] == 0 && is_shown(call.args[0])) refresh(call.args[0]);
  return recorded_call(call);
}

}  // namespace reweave::core
