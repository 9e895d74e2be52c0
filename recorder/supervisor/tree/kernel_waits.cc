#include "recorder/supervisor/tree/kernel_waits.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "recorder/supervisor/process/proc_folder.h"
#include "recorder/supervisor/tree/living_processes.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using Processes = std::vector<std::uint32_t>;

// A system call that a thread is blocked in (proc(5), /proc/PID/syscall).
struct Call {
  long number = -1;
  std::uint64_t first = 0, second = 0;  // arguments
};

Call call_of(const RuntimeState& state, const Thread& thread) {
  Call call;
  const std::int32_t process = state.processes[thread.process % kMaxProcesses].real_pid;
  std::ifstream file(proc_folder(process, thread.real_tid) + "/syscall");
  long number = -1;
  if (file >> number >> std::hex >> call.first >> call.second) call.number = number;  // "running": it is not blocked
  return call;
}

// True if the kernel still lists a child of `process` that the core counts as ended. Also true if /proc cannot be read.
bool has_ending_child(const RuntimeState& state, const Process& process, const Processes& living) {
  std::error_code failed;
  for (const fs::directory_entry& task : fs::directory_iterator(proc_folder(process.real_pid) + "/task", failed)) {
    std::ifstream children(task.path() / "children");
    if (!children) return true;  // not known
    for (std::int32_t child = 0; children >> child;)
      if (std::ranges::none_of(living, [&](std::uint32_t i) { return state.processes[i].real_pid == child; }))
        return true;
  }
  return static_cast<bool>(failed);
}

// Includes processes whose parent has ended, because they may have become children of `process` (prctl(2),
// PR_SET_CHILD_SUBREAPER).
Processes children_of(const RuntimeState& state, const Process& process, const Processes& living) {
  Processes children;
  for (const std::uint32_t i : living) {
    const Process& other = state.processes[i];
    const bool orphaned = state.processes[other.parent % kMaxProcesses].alive == 0;
    if (i != 0 && i != process.index && (other.parent == process.index || orphaned)) children.push_back(i);
  }
  return children;
}

// Returns what wait4 or waitid waits for: any child or, if `only` is above 0, the child with that ID.
std::optional<KernelWait> child_wait(const RuntimeState& state, const Process& process, std::int64_t only) {
  const Processes living = living_processes(state);
  if (state.tracing_began != 0 || (only <= 0 && has_ending_child(state, process, living))) return {};
  Processes children = children_of(state, process, living);
  std::erase_if(children, [&](std::uint32_t i) {
    const Process& child = state.processes[i];
    return only > 0 && (child.pid != only || child.pid_namespace != process.pid_namespace);
  });
  if (children.empty()) return {};
  return KernelWait{only > 0 ? "a child process to end" : "one of its child processes to end", true, children};
}

// Returns the wait of a read from (O_RDONLY) or a write to (O_WRONLY) the pipe `fd`. Returns nullopt for pipes that a
// process outside the tree may have open: named pipes, inherited pipes, and any pipe after a descriptor was sent
// through a socket.
std::optional<KernelWait> pipe_wait(const RuntimeState& state, const Process& process, std::uint64_t fd, int access,
                                    OpenPipes& pipes) {
  const std::string pipe = OpenPipes::name_of(process.real_pid, fd);
  if (pipe.empty() || state.descriptors_passed != 0) return {};
  const auto others = pipes.at_other_end(pipe, access);
  if (!others || others->empty()) return {};  // if there are none, the call is just about to return
  return KernelWait{access == O_RDONLY ? "data from a pipe" : "room in a pipe", false, *others};
}

}  // namespace

std::optional<KernelWait> kernel_wait(const RuntimeState& state, const Thread& thread, OpenPipes& pipes) {
  const Process& process = state.processes[thread.process % kMaxProcesses];
  if (thread.op.kind != OpKind::kSyscall || process.real_pid <= 1) return {};
  const auto is_known = {SYS_wait4, SYS_waitid, SYS_read, SYS_readv, SYS_write, SYS_writev};
  // Check the call number first: reading /proc is slower, and most calls are none of these.
  if (std::ranges::find(is_known, static_cast<long>(thread.op.detail)) == is_known.end()) return {};
  const Call call = call_of(state, thread);
  if (call.number != static_cast<long>(thread.op.detail)) return {};
  switch (call.number) {
    case SYS_wait4:
      return child_wait(state, process, static_cast<std::int32_t>(call.first));
    case SYS_waitid:
      return child_wait(state, process, call.first == P_PID ? static_cast<std::int64_t>(call.second) : -1);
    case SYS_read:
    case SYS_readv:
      return pipe_wait(state, process, call.first, O_RDONLY, pipes);
    default:
      return pipe_wait(state, process, call.first, O_WRONLY, pipes);
  }
}

}  // namespace reweave
