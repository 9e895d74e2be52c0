#include "recorder/core/syscalls/own_maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"
#include "recorder/core/process.h"

namespace reweave::core {

namespace {

constexpr const char* kNames[] = {"maps", "smaps"};

// The first address of a line "start-end ...", or false if it does not begin with one: smaps has such lines.
bool parse_start(const char* line, std::uint64_t& start) {
  start = 0;
  const char* p = line;
  for (; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
    start = start << 4 | static_cast<std::uint64_t>(*p <= '9' ? *p - '0' : *p - 'a' + 10);
  return p != line && *p == '-';
}

// Copies lines from one descriptor to the other, but for those about our memory.
class Filter {
 public:
  explicit Filter(long to) : to_(to) {}
  void take(char c) {
    if (length_ + 1 < sizeof line_) line_[length_++] = c;
    if (c == '\n') end_line();
  }

 private:
  void end_line() {
    line_[length_] = 0;
    std::uint64_t start = 0;
    if (parse_start(line_, start)) ours_ = start >= kCoreBase && start < kOursEnd;
    if (!ours_) sys(SYS_write, to_, line_, length_);
    length_ = 0;
  }

  long to_;
  bool ours_ = false;
  std::size_t length_ = 0;
  char line_[4500];  // a path and what is before it
};

}  // namespace

namespace {

// Behind the next '/' of a path, or its end.
const char* next_part(const char* path) {
  while (*path != 0 && *path != '/') path++;
  return *path == '/' ? path + 1 : path;
}

// A process of the tree by the name that begins `path`; behind it are its files.
bool names_process(const char* path) {
  if (starts_with(path, "self/") || starts_with(path, "thread-self/")) return true;
  long pid = 0;
  const char* p = path;
  for (; *p >= '0' && *p <= '9'; p++) pid = pid * 10 + (*p - '0');
  return p != path && *p == '/' && process_by_pid(pid) != nullptr;
}

}  // namespace

bool is_own_maps(const char* path) {
  constexpr std::size_t kProcBytes = 6;  // "/proc/"
  if (!starts_with(path, "/proc/") || !names_process(path + kProcBytes)) return false;
  const char* rest = next_part(path + kProcBytes);
  if (starts_with(rest, "task/")) rest = next_part(next_part(rest));
  for (const char* name : kNames)
    if (string_equal(rest, name)) return true;
  return false;
}

long open_own_maps(const char* path, long flags) {
  const long from = sys(SYS_open, path, O_RDONLY | O_CLOEXEC);
  if (is_error(from)) return from;
  const long to = sys(SYS_memfd_create, "maps", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  Filter filter(to);
  char buffer[4096];
  for (long n = 1; n > 0;) {
    n = sys(SYS_read, from, buffer, sizeof buffer);
    for (long i = 0; i < n; i++) filter.take(buffer[i]);
  }
  sys(SYS_close, from);
  if (is_error(to)) return to;
  sys(SYS_lseek, to, 0, SEEK_SET);
  return to;
}

}  // namespace reweave::core
