#include "replayer/live/core_view.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "formats/elf/elf_file.h"

namespace reweave {

namespace {

constexpr std::uint64_t kState = kArenaBase + kHeaderBytes;
constexpr std::uint64_t kRunStatus = kArenaBase + offsetof(ArenaHeader, status);

// A value in the process, and the variable that receives it.
struct Part {
  iovec local, remote;
  template <typename Value>
  Part(std::uint64_t address, Value& value)
      : local{&value, sizeof value}, remote{reinterpret_cast<void*>(address), sizeof value} {}
};

// Reads all parts with one system call. Variables whose part cannot be read keep their values.
template <typename... Parts>
void gather(pid_t pid, const Parts&... parts) {
  const iovec local[] = {parts.local...}, remote[] = {parts.remote...};
  process_vm_readv(pid, local, sizeof...(parts), remote, sizeof...(parts), 0);
}

}  // namespace

std::map<std::string, std::uint64_t> core_symbols(const std::string& core) {
  const std::string path = core + ".symbols";
  std::ifstream lines(path);
  REQUIRE(lines.is_open(), "{} is missing: install all of Reweave's files", path);
  std::map<std::string, std::uint64_t> found;
  std::string name;
  char kind = 0;
  for (std::uint64_t address = 0; lines >> std::hex >> address >> kind >> name;) found.emplace(name, address);
  const std::string build_id = build_id_of(Fd(open(core.c_str(), O_RDONLY | O_CLOEXEC)));
  REQUIRE(found.contains(build_id), "{} is of another build than {}: install all of Reweave's files together", path,
          core);
  return found;
}

bool read_memory(pid_t pid, std::uint64_t address, void* to, std::size_t bytes) {
  const iovec local = {to, bytes}, remote = {reinterpret_cast<void*>(address), bytes};
  if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes)) return true;
  const Fd memory(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  return memory.valid() && pread(memory.get(), to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

bool write_memory(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes) {
  const Fd memory(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  return memory.valid() &&
         pwrite(memory.get(), from, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

// Needs one system call as long as the same thread has the baton: walks by single steps call this after each
// instruction.
Progress CoreView::progress() const {
  for (;;) {
    std::uint64_t event = 0, step = 0;
    std::uint32_t holder = 0;
    std::int64_t countdown = 0, stub_countdowns[kStubCountdowns] = {}, budget = 0;
    const std::uint32_t expected = holder_ == 0 || holder_ > kMaxThreads ? 1 : holder_;
    const std::uint64_t thread = kState + offsetof(RuntimeState, threads) + (expected - 1) * sizeof(Thread);
    gather(pid_, Part(kRunStatus + offsetof(RunStatus, event), event),
           Part(kState + offsetof(RuntimeState, step), step), Part(kState + offsetof(RuntimeState, holder), holder),
           Part(thread + offsetof(Thread, countdown), countdown),
           Part(thread + offsetof(Thread, stub_countdowns), stub_countdowns),
           Part(thread + offsetof(Thread, budget), budget));
    Progress progress = {event, step};
    if (holder == 0 || holder > kMaxThreads) return progress;
    holder_ = holder;
    if (holder != expected) continue;
    // Add the schedule points that the fast paths have counted.
    std::int64_t left = countdown;
    for (const std::int64_t stub : stub_countdowns) left += stub;
    progress.step += static_cast<std::uint64_t>(budget - left);
    return progress;
  }
}

std::vector<CoreThread> CoreView::threads() const {
  std::vector<CoreThread> list, exited;
  const auto count = read_word<std::uint32_t>(pid_, kState + offsetof(RuntimeState, thread_count));
  for (std::uint32_t i = 0; i < count && i < kMaxThreads; i++) {
    const std::uint64_t base = kState + offsetof(RuntimeState, threads) + i * sizeof(Thread);
    const auto state = read_word<ThreadState>(pid_, base + offsetof(Thread, state));
    const auto process = read_word<std::uint16_t>(pid_, base + offsetof(Thread, process));
    const std::uint64_t owner = kState + offsetof(RuntimeState, processes) + process * sizeof(Process);
    if (process >= kMaxProcesses || read_word<std::int32_t>(pid_, owner + offsetof(Process, real_pid)) != pid_)
      continue;
    const auto tid = read_word<std::int32_t>(pid_, base + offsetof(Thread, tid));
    const auto real_tid = read_word<std::int32_t>(pid_, base + offsetof(Thread, real_tid));
    if (state == ThreadState::kUnused) continue;
    (state == ThreadState::kExited ? exited : list).push_back({i, tid, real_tid, state});
  }
  return list.empty() ? exited : list;
}

std::int32_t CoreView::recorded_pid() const {
  const auto count = read_word<std::uint32_t>(pid_, kState + offsetof(RuntimeState, process_count));
  for (std::uint32_t i = 0; i < count && i < kMaxProcesses; i++) {
    const std::uint64_t base = kState + offsetof(RuntimeState, processes) + i * sizeof(Process);
    if (read_word<std::int32_t>(pid_, base + offsetof(Process, real_pid)) == pid_)
      return read_word<std::int32_t>(pid_, base + offsetof(Process, pid));
  }
  return 0;
}

void CoreView::note_counted(pid_t lwp, std::uint64_t start) const {
  for (const CoreThread& thread : threads())
    if (thread.real_tid == lwp)
      write_memory(
          pid_, kState + offsetof(RuntimeState, threads) + thread.index * sizeof(Thread) + offsetof(Thread, counted_at),
          &start, sizeof start);
}

void CoreView::hold_before(std::uint64_t event, std::uint64_t word) const {
  write_memory(pid_, word, &event, sizeof event);
}

void CoreView::end_hold() const {
  const std::uint32_t none = 0;
  write_memory(pid_, kRunStatus + offsetof(RunStatus, held), &none, sizeof none);
}

}  // namespace reweave
