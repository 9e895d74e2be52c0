// Targets started under the core.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recorder/supervisor/ring/arena_memory.h"
#include "recorder/supervisor/target/guard.h"

namespace reweave {

// The paths of the parts that run inside the target. They are next to the running `reweave` or in its library folder.
struct RuntimePaths {
  std::string core;
  std::string shim;
  std::string tsan;
};
// Throws BadInput with advice on repairing the installation.
RuntimePaths find_runtime();

// The configuration common to all runs. `random_bytes` and the policy's generator derive from `seed`.
RunConfig make_config(Mode mode, std::uint64_t seed, const std::string& policy, const RuntimePaths& paths);

struct TargetProgram {
  std::string path;                    // absolute, or as found in PATH
  std::vector<std::string> arguments;  // argv, the program's name first
  std::vector<std::string> environment;
  int output = -1;       // descriptor for its standard output and error; -1: the supervisor's
  int run_arena = -1;    // fork server: descriptor of the arena of its runs
  int checkpoints = -1;  // replay: descriptor by which it is asked for checkpoints (supervisor/target/copies.h)
  std::string recording =
      {};  // absolute path of the recording in progress, which the guard completes if this process is killed
};

// The process tree of one arena. Destruction kills what is left of it.
class Tree {
 public:
  virtual ~Tree() = default;
  // Takes notice of processes that have ended, without waiting. True while any is left.
  virtual bool collect() = 0;
  // The wait(2) status of the first process, once it has ended.
  virtual std::optional<int> status() const = 0;
  virtual void kill_all() = 0;
};

// Kills the processes that the arena knows, and `first` if it is not 0.
void kill_tree(const ArenaMemory& arena, pid_t first);
// True if the arena knows a process that lives, besides `first`.
bool others_live(const ArenaMemory& arena, pid_t first);

// A tree that this class starts. The calling process becomes its subreaper.
class Target : public Tree {
 public:
  // Starts the program under the core with the arena's configuration, and calls `meanwhile` in parallel: the core sets
  // itself up, and then waits for its feed. Throws SystemError and what `meanwhile` throws; in both cases nothing is
  // left running.
  Target(ArenaMemory& arena, const TargetProgram& program, const std::function<void()>& meanwhile = {});
  ~Target() override;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  pid_t pid() const { return pid_; }
  // Reaps the processes that have ended.
  bool collect() override;
  std::optional<int> status() const override { return status_; }
  void kill_all() override;

 private:
  void abandon();

  ArenaMemory& arena_;
  bool has_checkpoints_;  // checkpoints outlive the tree and may be children of this process
  std::optional<Guard> guard_;
  struct sigaction old_child_action_ = {};
  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace reweave
