#include "recorder/core/syscalls/own_status.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/fatal.h"
#include "recorder/core/kernel_signals.h"
#include "recorder/core/process.h"
#include "recorder/core/syscalls/seccomp.h"
#include "recorder/core/tracing.h"

namespace reweave::core {

namespace {

constexpr const char* kDigits = "0123456789abcdef";

// A cursor in a path.
struct Words {
  const char* at;
  bool take(const char* word) {
    if (!starts_with(at, word)) return false;
    at += string_length(word);
    return true;
  }
  long number() {
    long value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = value * 10 + (*at - '0');
    return value;
  }
};

bool is_private(const QueuedSignal& signal) {
  constexpr std::int32_t kTkill = -6;  // SI_TKILL
  std::int32_t info[3];
  memcpy(info, signal.info, sizeof info);
  return info[2] == kTkill;
}

// Signals that the kernel has delivered to us and the program not yet has, as bits.
std::uint64_t kept_signals(const Thread& thread, bool of_thread) {
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < thread.queued.load() && i < kSignalQueue; i++)
    if (is_private(thread.signals[i]) == of_thread) bits |= signal_bit(static_cast<int>(thread.signals[i].number));
  for (std::uint32_t i = 0; i < thread.held; i++)
    if (is_private(thread.held_signals[i]) == of_thread)
      bits |= signal_bit(static_cast<int>(thread.held_signals[i].number));
  return bits;
}

std::uint64_t kept_of_process(const Thread& thread) {
  std::uint64_t bits = 0;
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++)
    if (s.threads[s.live[i]].process == thread.process) bits |= kept_signals(s.threads[s.live[i]], false);
  return bits;
}

std::uint64_t parse_hex(const char* text) {
  std::uint64_t value = 0;
  for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
    value = value << 4 | static_cast<std::uint64_t>(*text <= '9' ? *text - '0' : *text - 'a' + 10);
  return value;
}

void print_mask(char* to, std::uint64_t mask) {
  for (int i = 0; i < 16; i++) to[i] = kDigits[mask >> (60 - 4 * i) & 15];
}

std::uint64_t word_of_processors(const Thread& thread, std::uint32_t word) {
  const bool own = thread.affinity_bytes != 0;
  return word < 16 ? (own ? thread.affinity[word] : config().affinity[word]) : 0;
}

bool may_use(const Thread& thread, std::uint32_t cpu) {
  return (word_of_processors(thread, cpu / 64) >> cpu % 64 & 1) != 0;
}

// The last digit stands for processors 0 to 3; the kernel has as many digits as there can be processors.
void print_processors(const Thread& thread, char* to) {
  char* end = to;
  while (*end != '\n' && *end != 0) end++;
  for (std::uint32_t digit = 0; end > to;) {
    if (*--end == ',') continue;
    *end = kDigits[word_of_processors(thread, digit / 16) >> digit % 16 * 4 & 15];
    digit++;
  }
}

void list_processors(const Thread& thread, Text& text) {
  constexpr std::uint32_t kMost = 1024;
  bool any = false;
  for (std::uint32_t cpu = 0; cpu < kMost; cpu++) {
    if (!may_use(thread, cpu)) continue;
    const std::uint32_t first = cpu;
    while (cpu + 1 < kMost && may_use(thread, cpu + 1)) cpu++;
    text << (any ? "," : "") << static_cast<int>(first);
    if (cpu != first) text << "-" << static_cast<int>(cpu);
    any = true;
  }
  text << "\n";
}

// Copies lines from one descriptor to the other, with what the program has in place of what the core has.
class StatusCopy {
 public:
  StatusCopy(const Thread& thread, long to) : thread_(thread), to_(to) {}
  void take(char c) {
    if (length_ + 1 < sizeof line_) line_[length_++] = c;
    if (c == '\n') end_line();
  }

 private:
  void end_line() {
    line_[length_] = 0;
    char* value = line_;
    while (*value != 0 && *value != '\t') value++;
    if (*value == '\t') rewrite(value + 1);
    sys(SYS_write, to_, line_, string_length(line_));
    length_ = 0;
  }

  bool is(const char* name) const { return starts_with(line_, name); }

  void replace(char* value, const char* by) {
    copy_string(value, static_cast<std::size_t>(line_ + sizeof line_ - value), by);
  }

  void rewrite(char* value) {
    const Process& owner = state().processes[state().processes[thread_.process].handlers_of];
    Text text;
    if (is("SigPnd:")) return print_mask(value, parse_hex(value) | kept_signals(thread_, true));
    if (is("ShdPnd:")) return print_mask(value, parse_hex(value) | kept_of_process(thread_));
    if (is("SigBlk:")) return print_mask(value, thread_.signal_mask);
    if (is("SigIgn:")) return print_mask(value, owner.ignored_signals);
    if (is("SigCgt:")) return print_mask(value, owner.handled_signals);
    if (is("Cpus_allowed:")) return print_processors(thread_, value);
    if (is("Cpus_allowed_list:")) {
      list_processors(thread_, text);
      replace(value, text.c_str());
    }
    if (thread_.seccomp != 0 && is("Seccomp:")) text << static_cast<int>(seccomp_mode(thread_)) << "\n";
    if (thread_.seccomp != 0 && is("Seccomp_filters:")) text << static_cast<int>(seccomp_filters_of(thread_)) << "\n";
    const Tracee* tracee = tracee_of(thread_);
    if (tracee != nullptr && is("TracerPid:")) text << static_cast<int>(thread_of(tracee->tracer).tid) << "\n";
    if (tracee != nullptr && is("State:") && tracee->stop != StopKind::kNone) text << "t (tracing stop)\n";
    if (text.size() != 0) replace(value, text.c_str());
  }

  const Thread& thread_;
  long to_;
  std::size_t length_ = 0;
  char line_[4500];  // the supplementary groups can be many
};

}  // namespace

const Thread* thread_of_status(const char* path) {
  Words words = {path};
  if (path == nullptr || !words.take("/proc/")) return nullptr;
  long id = 0;
  if (words.take("thread-self"))
    id = self().tid;
  else if (words.take("self"))
    id = process().pid;
  else
    id = words.number();
  if (words.take("/task/")) id = words.number();
  return string_equal(words.at, "/status") ? thread_by_tid(id) : nullptr;
}

long open_status(const Thread& thread, const char* path, long flags) {
  const long from = sys(SYS_open, path, O_RDONLY | O_CLOEXEC);
  if (is_error(from)) return from;
  // All of it first: the program may have no more than one descriptor left.
  static char whole[32 << 10];
  std::size_t bytes = 0;
  for (long n = 1; n > 0 && bytes < sizeof whole; bytes += static_cast<std::size_t>(n)) {
    n = sys(SYS_read, from, whole + bytes, sizeof whole - bytes);
    if (is_error(n)) n = 0;
  }
  sys(SYS_close, from);
  const long to = sys(SYS_memfd_create, "status", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  StatusCopy copy(thread, to);
  for (std::size_t i = 0; i < bytes && !is_error(to); i++) copy.take(whole[i]);
  if (!is_error(to)) sys(SYS_lseek, to, 0, SEEK_SET);
  return to;
}

}  // namespace reweave::core
