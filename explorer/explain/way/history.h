// The accesses of one process in a trace, for searches backward.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/trace/trace_reader.h"

namespace reweave {

class AccessHistory {
 public:
  struct Entry {
    std::uint64_t event = 0;  // index in the trace
    TraceEvent what;
    std::uint32_t number = 0;  // the number-th time that the thread reaches this code, from main on; 0: before main
    std::uint32_t before = 0;  // index of the thread's previous entry; its own index if there is none
  };
  struct Block {
    std::uint64_t address = 0, bytes = 0;
    std::size_t allocated = 0;  // index of the entry of its allocation
    std::optional<std::size_t> freed = {};
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  // `process`: index of the process. Keeps only the end of a long trace.
  AccessHistory(const TraceReader& trace, std::uint16_t process);

  const Entry& operator[](std::size_t index) const { return entries_[index]; }
  std::size_t size() const { return entries_.size(); }
  // True if a part of the trace was left out.
  bool cut() const { return cut_; }
  // The thread's last entry, or kNone.
  std::size_t last_of(ThreadId thread) const;
  // The thread of the last event of any kind; none if there is none.
  std::optional<ThreadId> last_thread() const { return last_thread_; }
  // The thread's previous entry, or kNone.
  std::size_t before(std::size_t index) const;
  // The last entry before `index` that writes any of the bytes, or kNone.
  std::size_t last_write(std::uint64_t address, std::uint64_t bytes, std::size_t index) const;
  // The last write by threads other than `thread` to the bytes between two entries, or kNone.
  std::size_t write_between(std::uint64_t address, std::uint64_t bytes, std::size_t from, std::size_t to,
                            ThreadId thread) const;
  // The latest block that was allocated before `index` and contains the address.
  std::optional<Block> block_at(std::uint64_t address, std::size_t index) const;

 private:
  void add(std::uint64_t event, const TraceEvent& what, std::uint32_t number);

  std::vector<Entry> entries_;
  std::map<ThreadId, std::size_t> last_;
  std::optional<ThreadId> last_thread_;
  bool cut_ = false;
};

// True for a plain or atomic access that changes memory.
bool is_write(EventKind kind);
// True for a plain or atomic access that reads memory.
bool is_read(EventKind kind);

}  // namespace reweave
