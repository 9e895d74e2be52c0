// The runtime's state in the memory of a replayed process, read from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recorder/supervisor/target/target.h"

namespace reweave {

inline constexpr std::uint64_t kPageBytes = 4096;

// Addresses of the core's symbols by name, from the list that is installed beside its file (installed files are
// stripped). The list also has the build ID of its core. Throws BadInput if it is missing or belongs to another core.
std::map<std::string, std::uint64_t> core_symbols(const std::string& core);

// Copies memory of the process. False if part of it cannot be read.
bool read_memory(pid_t pid, std::uint64_t address, void* to, std::size_t bytes);
// Writes even where the process itself may not.
bool write_memory(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes);

template <typename T>
T read_word(pid_t pid, std::uint64_t address) {
  T value = {};
  if (!read_memory(pid, address, &value, sizeof value)) value = {};
  return value;
}

// A thread of the replayed process tree, as the runtime knows it.
struct CoreThread {
  std::uint32_t index;
  std::int32_t tid;       // as the program saw it while it was recorded
  std::int32_t real_tid;  // in this run
  ThreadState state;
};

// The progress of a replay: events and schedule points so far. Both only grow.
struct Progress {
  std::uint64_t event = 0;
  std::uint64_t step = 0;
  auto operator<=>(const Progress&) const = default;
};

class CoreView {
 public:
  explicit CoreView(pid_t pid) : pid_(pid) {}

  Progress progress() const;
  // The living threads of the process itself. After the runtime has ended the process, and until the kernel has killed
  // it: all threads that it ever had.
  std::vector<CoreThread> threads() const;
  // The process's recorded id; 0 if it is not known.
  std::int32_t recorded_pid() const;
  // The thread has counted at the start of this loop (recorder/counted_loop.h): a trap there will not count it again.
  void note_counted(pid_t lwp, std::uint64_t start) const;
  // Makes this process hold again before that event, in core_note_hold. `word`: the address of core_hold_event.
  void hold_before(std::uint64_t event, std::uint64_t word) const;
  // Lets a process continue that holds in core_note_hold.
  void end_hold() const;

 private:
  pid_t pid_;
  mutable std::uint32_t holder_ = 0;  // RuntimeState::holder as last read
};

// True for addresses of the runtime's code, including code that it generates in its own area.
constexpr bool is_core_code(std::uint64_t address) { return address >= kCoreBase && address < kArenaBase; }

}  // namespace reweave
