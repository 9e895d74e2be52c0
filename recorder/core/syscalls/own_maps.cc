#include "recorder/core/syscalls/own_maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"

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
    if (!ours_ && start != 0 && start == program_break().start) name_heap();
    if (!ours_) sys(SYS_write, to_, line_, length_);
    length_ = 0;
  }

  // The kernel does not know where the heap is, for brk is ours.
  void name_heap() {
    constexpr std::size_t kNameColumn = 73;
    while (length_ > 0 && (line_[length_ - 1] == '\n' || line_[length_ - 1] == ' ')) length_--;
    while (length_ < kNameColumn) line_[length_++] = ' ';
    length_ += copy_string(line_ + length_, sizeof line_ - length_, "[heap]\n");
  }

  long to_;
  bool ours_ = false;
  std::size_t length_ = 0;
  char line_[4500];  // a path and what is before it
};

}  // namespace

bool is_own_maps(const char* path) {
  if (!starts_with(path, "/proc/")) return false;
  for (const char* name : kNames) {
    Text own;
    own << "/proc/" << static_cast<int>(process().pid) << "/" << name;
    Text self, thread;
    self << "/proc/self/" << name;
    thread << "/proc/thread-self/" << name;
    if (string_equal(path, own.c_str()) || string_equal(path, self.c_str()) || string_equal(path, thread.c_str()))
      return true;
  }
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
