#include "recorder/core/syscalls/proc/own_status.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/proc/proc_path.h"
#include "recorder/core/syscalls/proc/shown_file.h"
#include "recorder/core/syscalls/seccomp/seccomp.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr const char* kDigits = "0123456789abcdef";

bool is_private(const QueuedSignal& signal) {
  constexpr std::int32_t kTkill = -6;  // SI_TKILL
  std::int32_t info[3];
  memcpy(info, signal.info, sizeof info);
  return info[2] == kTkill;
}

// The signals, as bits, that the kernel has delivered to the core but that the core has not yet delivered to the
// program.
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
  for (const Thread& each : threads_of(state(), state().processes[thread.process])) bits |= kept_signals(each, false);
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

// The last digit is for processors 0 to 3; the kernel prints as many digits as there can be processors.
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

// A line "name:\tvalue".
struct StatusLine {
  ShownLine& line;
  char* value;
  bool is(const char* name) const { return starts_with(line.text, name); }
  void replace(const char* by) {
    copy_string(value, static_cast<std::size_t>(line.text + sizeof line.text - value), by);
    line.length = string_length(line.text);
  }
};

// The signals that the kernel shows as pending and that are the program's. A pending watchdog signal is the
// supervisor's (kWatchdogSignal): the program's own signals of that number are never blocked in the kernel, so they are
// kept_signals.
std::uint64_t pending_in_kernel(const char* text) { return parse_hex(text) & ~signal_bit(kWatchdogSignal); }

void edit_mask(StatusLine& at, const Thread& thread) {
  const Process& owner = state().processes[state().processes[thread.process].handlers_of];
  if (at.is("SigPnd:")) print_mask(at.value, pending_in_kernel(at.value) | kept_signals(thread, true));
  if (at.is("ShdPnd:")) print_mask(at.value, pending_in_kernel(at.value) | kept_of_process(thread));
  if (at.is("SigBlk:")) print_mask(at.value, thread.signal_mask);
  if (at.is("SigIgn:")) print_mask(at.value, owner.ignored_signals);
  if (at.is("SigCgt:")) print_mask(at.value, owner.handled_signals);
  if (at.is("Cpus_allowed:")) print_processors(thread, at.value);
}

// Replaces the core's values by the program's. `context` is the thread described.
void edit_status(ShownLine& line, void* context) {
  const Thread& thread = *static_cast<const Thread*>(context);
  StatusLine at = {line, line.text};
  while (*at.value != 0 && *at.value != '\t') at.value++;
  if (*at.value != '\t') return;
  at.value++;
  edit_mask(at, thread);
  Text text;
  if (at.is("Cpus_allowed_list:")) list_processors(thread, text);
  if (thread.seccomp != 0 && at.is("Seccomp:")) text << static_cast<int>(seccomp_mode(thread)) << "\n";
  if (thread.seccomp != 0 && at.is("Seccomp_filters:")) text << static_cast<int>(seccomp_filters_of(thread)) << "\n";
  const Tracee* tracee = tracee_of(thread);
  if (tracee != nullptr && at.is("TracerPid:")) text << static_cast<int>(thread_of(tracee->tracer).tid) << "\n";
  if (tracee != nullptr && at.is("State:") && tracee->stop != StopKind::kNone) text << "t (tracing stop)\n";
  // A thread waiting for the baton sleeps in the kernel, but is runnable.
  if (at.is("State:") && *at.value == 'S' && thread.state.load() == ThreadState::kReady) text << "R (running)\n";
  if (text.size() != 0) at.replace(text.c_str());
}

void as_it_is(ShownLine&, void*) {}

}  // namespace

Thread* thread_of_status(const char* path) {
  const ProcPath parts = parse_proc_path(path);
  return parts.file != nullptr && string_equal(parts.file, "status") ? thread_of(parts) : nullptr;
}

long open_status(Thread& thread, const char* path, long flags) {
  return open_edited(path, flags, edit_status, &thread);
}

void refresh_status(long fd, Thread* thread, const char* path) {
  refresh_edited(fd, path, thread == nullptr ? as_it_is : edit_status, thread);
}

}  // namespace reweave::core
