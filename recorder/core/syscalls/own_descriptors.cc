// Lists of descriptors in /proc without ours.
#include <sys/syscall.h>

#include "recorder/core/fatal.h"
#include "recorder/core/syscalls/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// The kernel's struct linux_dirent64.
struct Entry {
  std::uint64_t inode, offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[];
};

// An entry named by the number of a descriptor of ours.
bool is_ours(const Entry& entry) {
  long number = 0;
  const char* p = entry.name;
  for (; *p >= '0' && *p <= '9' && number < kMaxFds; p++) number = number * 10 + (*p - '0');
  return p != entry.name && *p == 0 && is_our_fd(number);
}

// True if `fd` is /proc/PID/fd or fdinfo, where names are numbers of descriptors; elsewhere they may be of processes.
bool lists_descriptors(long fd) {
  Text link;
  link << "/proc/self/fd/" << static_cast<int>(fd);
  char path[64];
  const long n = sys(SYS_readlink, link.c_str(), path, sizeof path - 1);
  if (n <= 0) return false;
  path[n] = 0;
  const char* name = base_name(path);
  return starts_with(path, "/proc/") && (string_equal(name, "fd") || string_equal(name, "fdinfo"));
}

// Copies the entries that are not ours of `bytes` at `from`; how many bytes that are.
long copy_without_ours(char* to, const char* from, long bytes) {
  long copied = 0;
  for (long at = 0; at < bytes; at += reinterpret_cast<const Entry*>(from + at)->bytes) {
    const auto& entry = *reinterpret_cast<const Entry*>(from + at);
    if (is_ours(entry)) continue;
    memcpy(to + copied, &entry, entry.bytes);
    copied += entry.bytes;
  }
  return copied;
}

}  // namespace

long handle_getdents64(Call& call) {
  if (!live() || is_our_fd(call.args[0]) || !lists_descriptors(call.args[0])) return recorded_call(call);
  static char entries[32 << 10];
  auto* to = reinterpret_cast<char*>(call.args[1]);
  const auto wanted = static_cast<std::uint32_t>(call.args[2]);
  const std::uint64_t room = wanted < sizeof entries ? wanted : sizeof entries;
  long got = 0, result = 0;
  do {  // again if there were none but ours: 0 is the end
    got = result = sys(SYS_getdents64, call.args[0], entries, room);
    if (got > 0) result = copy_without_ours(to, entries, got);
  } while (got > 0 && result == 0);
  const Output output = {static_cast<std::uint64_t>(call.args[1]), static_cast<std::uint64_t>(result)};
  log_call(call, result, &output, result > 0 ? 1 : 0);
  return result;
}

}  // namespace reweave::core
