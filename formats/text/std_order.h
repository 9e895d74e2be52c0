// Rejects text traces with an order of events that no run can have: predictions from them would be meaningless.
//
// Reports only certain cases: a thread that continues after it was joined, and a lock that two threads hold at once. A
// trace may begin in the middle of a run, so a release without an acquisition is accepted; so are a lock taken again by
// its holder, a lock released by another thread, and taking a lock whose holder has ended (robust mutexes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "formats/text/std_format.h"

namespace reweave {

class StdOrder {
 public:
  explicit StdOrder(const StdNames& names) : names_(names) {}

  // `event` is the event of line `line`, `name` its operand in parentheses. Throws StdFormatError.
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
  std::unordered_map<ThreadId, std::size_t> joined_, ended_;  // the line where that happened
  std::map<std::uint64_t, Holder> holders_;                   // of locks taken exclusively, by address
};

}  // namespace reweave
