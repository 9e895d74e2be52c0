// Lists of descriptors in /proc without the core's own.
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// The common part of the kernel's struct linux_dirent64 and the older linux_dirent.
struct Entry {
  std::uint64_t inode, offset;
  std::uint16_t bytes;
  char rest[];
};

// The name of an entry; the newer kind has its type before the name.
const char* name_of(const Entry& entry, const SyscallRow& row) {
  return (row.flags & kListsFolder) != 0 ? entry.rest + 1 : entry.rest;
}

// True for the number of one of the core's descriptors.
bool is_ours(const char* name) {
  long number = 0;
  const char* p = name;
  for (; *p >= '0' && *p <= '9' && number < kMaxFds; p++) number = number * 10 + (*p - '0');
  return p != name && *p == 0 && is_our_fd(number);
}

// True if `fd` is /proc/PID/fd or fdinfo, where names are descriptor numbers; elsewhere they may be process IDs.
bool lists_descriptors(long fd) {
  char path[64];
  if (path_of_fd(fd, path, sizeof path) <= 0) return false;
  const char* name = base_name(path);
  return starts_with(path, "/proc/") && (string_equal(name, "fd") || string_equal(name, "fdinfo"));
}

// Removes the core's entries from the `bytes` at `entries`; returns the number of bytes left.
long take_out_ours(char* entries, long bytes, const SyscallRow& row) {
  long kept = 0, size = 0;
  for (long at = 0; at < bytes; at += size) {
    const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
    size = entry.bytes;
    if (is_ours(name_of(entry, row))) continue;
    memmove(entries + kept, entries + at, static_cast<std::size_t>(size));
    kept += size;
  }
  return kept;
}

bool has_ours(const char* entries, long bytes, const SyscallRow& row) {
  for (long at = 0, size = 0; at < bytes; at += size) {
    const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
    if (is_ours(name_of(entry, row))) return true;
    size = entry.bytes;
  }
  return false;
}

}  // namespace

long handle_getdents(Call& call) {
  if (!live() || is_our_fd(call.args[0])) return recorded_call(call);
  auto* entries = reinterpret_cast<char*>(call.args[1]);
  long got = 0, result = 0, written = 0;  // `written`: includes entries that were taken out
  do {                                    // repeats if all entries were the core's: a result of 0 would mean the end
    got = result = lent_call(call.number, call.args[0], call.args[1], call.args[2]);
    if (got > written) written = got;
    if (has_ours(entries, got, *call.row) && lists_descriptors(call.args[0]))
      result = take_out_ours(entries, got, *call.row);
  } while (got > 0 && result == 0);
  const Output output = {static_cast<std::uint64_t>(call.args[1]), static_cast<std::uint64_t>(written)};
  log_call(call, result, &output, written > 0 ? 1 : 0);
  return result;
}

}  // namespace reweave::core
