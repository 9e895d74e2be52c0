// The pipes that the processes of the tree have open, as /proc shows them. Each process is looked at once, however many
// threads wait at pipes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "recorder/runtime_state.h"

namespace reweave {

// Thread rule: the supervisor's thread. What it knows is as old as the first question.
class OpenPipes {
 public:
  explicit OpenPipes(const RuntimeState& state) : state_(state) {}
  // Returns the name of the pipe that the process has open as `fd`; empty if it is no pipe, or not known.
  static std::string name_of(std::int32_t process, std::uint64_t fd);
  // Returns the processes (indices, ascending) that have `pipe` open with an access mode other than `access`, which is
  // O_RDONLY or O_WRONLY. Returns nothing if /proc does not show that, or if this process has the pipe open too.
  std::optional<std::vector<std::uint32_t>> at_other_end(const std::string& pipe, int access);

 private:
  struct Open {
    std::uint32_t process;
    std::string folder, descriptor;  // of /proc
  };
  void look();

  const RuntimeState& state_;
  bool looked_ = false;
  bool known_ = true;  // /proc shows all descriptors of all processes
  std::map<std::string, std::vector<Open>> open_;
  std::set<std::string> ours_;
  std::map<std::pair<std::string, int>, std::optional<std::vector<std::uint32_t>>> answers_;
};

}  // namespace reweave
