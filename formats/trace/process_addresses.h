// Distinguishes addresses of different processes in one trace, which may be equal, by a tag in the bits above the
// address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/trace/trace_reader.h"

namespace reweave {

inline constexpr unsigned kProcessShift = 48;
inline constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kProcessShift) - 1;

class ProcessAddresses {
 public:
  ProcessAddresses() = default;
  explicit ProcessAddresses(const TraceReader& trace) {
    for (const TraceThreadInfo& thread : trace.info().threads) {
      if (thread.id >= process_of_.size()) process_of_.resize(thread.id + std::size_t{1});
      process_of_[thread.id] = thread.process;
    }
  }

  std::uint16_t process_of(ThreadId thread) const { return thread < process_of_.size() ? process_of_[thread] : 0; }
  // False if told_apart() changes nothing.
  bool several() const {
    return std::any_of(process_of_.begin(), process_of_.end(), [](std::uint16_t process) { return process != 0; });
  }
  const std::vector<std::uint16_t>& processes() const { return process_of_; }  // by thread

  // The event with its process's tag in its addresses.
  TraceEvent told_apart(TraceEvent event) const {
    if (event.kind == EventKind::kSend || event.kind == EventKind::kReceive)
      return event;  // kernel objects are shared by all processes
    const std::uint64_t tag = std::uint64_t{process_of(event.thread)} << kProcessShift;
    event.address |= tag;
    if (event.kind == EventKind::kWaitBegin || event.kind == EventKind::kWaitEnd) event.extra |= tag;
    return event;
  }

 private:
  std::vector<std::uint16_t> process_of_;
};

}  // namespace reweave
