// Where thread-local variables are: what libthread_db does, by the offsets that the C library names for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replayer/live/traced_process.h"

namespace reweave {

class ThreadStorage {
 public:
  // gdb offers to look up symbols (qSymbol), or answers with one.
  std::string answer(std::string_view rest);
  // Of the variable at `offset` in the thread-local storage of the library whose link map is at `library`.
  std::optional<std::uint64_t> address(const TracedProcess& process, pid_t lwp, std::uint64_t offset,
                                       std::uint64_t library) const;

 private:
  std::size_t asked_ = 0;
  std::map<std::string, std::uint64_t> symbols_;
};

}  // namespace reweave
