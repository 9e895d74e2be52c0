// Finds thread-local variables as libthread_db does, with the offsets that the C library exports for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replayer/live/traced_process.h"

namespace reweave {

class ThreadStorage {
 public:
  // Answers gdb's qSymbol, which offers to look up symbols or gives the address of one.
  std::string answer(std::string_view rest);
  // The address of the variable at `offset` in the thread's storage of the library whose link map is at `library`.
  // Nothing if that is not known or not allocated yet.
  std::optional<std::uint64_t> address(const TracedProcess& process, pid_t lwp, std::uint64_t offset,
                                       std::uint64_t library) const;

 private:
  std::size_t asked_ = 0;
  std::map<std::string, std::uint64_t> symbols_;
};

}  // namespace reweave
