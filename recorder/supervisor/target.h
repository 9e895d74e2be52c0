// A target started under the core: the process tree that one arena serves.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recorder/supervisor/arena_memory.h"
#include "recorder/supervisor/guard.h"

namespace reweave {

// Where the pieces that run inside the target are, beside the running program or in its library folder.
struct RuntimePaths {
  std::string core;
  std::string shim;
  std::string tsan;
};
// Throws BadInput that says how to repair the installation.
RuntimePaths find_runtime();

// The configuration that every run starts from. `random_bytes` and the policy's generator derive from `seed`.
RunConfig make_config(Mode mode, std::uint64_t seed, const std::string& policy, const RuntimePaths& paths);

struct TargetProgram {
  std::string path;                    // absolute, or as found in PATH
  std::vector<std::string> arguments;  // argv, the program's name first
  std::vector<std::string> environment;
  int output = -1;             // descriptor to use as its standard output and error; -1: ours
  int run_arena = -1;          // fork server: descriptor of the arena of its runs
  std::string recording = {};  // that is being made, absolute: the guard has it completed should we be killed
};

// Owns the tree: destruction kills what is left of it. The calling process becomes its subreaper.
class Target {
 public:
  // Starts the program under the core with the arena's configuration, and calls `meanwhile` beside it: the core sets
  // itself up, and does no more before it is fed. Throws SystemError, and what `meanwhile` throws; then nothing is left
  // running.
  Target(ArenaMemory& arena, const TargetProgram& program, const std::function<void()>& meanwhile = {});
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  pid_t pid() const { return pid_; }
  // Collects processes that have ended, without waiting. True while any is left.
  bool collect();
  // How the first process ended (wait(2)), once it has.
  std::optional<int> status() const { return status_; }
  void kill_all();

 private:
  void abandon();

  ArenaMemory& arena_;
  std::optional<Guard> guard_;
  struct sigaction old_child_action_ = {};
  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace reweave
