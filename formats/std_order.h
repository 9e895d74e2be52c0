// What no run can have done, in the order of a text trace: then the text is not of a run, and what would be predicted
// from it would be of none either.
//
// Looked for is what is certain: a thread that goes on after it was joined, and a lock that two threads hold at once. A
// trace may begin in the middle of a run, so releases without an acquisition are none; a lock may be taken again by the
// thread that has it, and released by another; one whose thread has ended may be taken (robust mutexes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "formats/std_format.h"

namespace reweave {

class StdOrder {
 public:
  explicit StdOrder(const StdNames& names) : names_(names) {}

  // `event` is that of line `line`, `name` what it names in parentheses. Throws StdFormatError.
  void check(const TraceEvent& event, std::size_t line, std::string_view name);

 private:
  struct Holder {
    ThreadId thread;
    std::uint32_t depth;
    std::size_t line;  // where it was taken
  };
  void take(std::uint64_t lock, const TraceEvent& event, std::size_t line, std::string_view name);
  void release(std::uint64_t lock);
  std::string thread_name(ThreadId thread) const { return "thread " + names_.threads().at(thread); }

  const StdNames& names_;
  std::unordered_map<ThreadId, std::size_t> joined_, ended_;  // the line where it was
  std::map<std::uint64_t, Holder> holders_;                   // of locks taken exclusively, by address
};

}  // namespace reweave
