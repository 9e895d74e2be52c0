// TracedProcess's threads, and their statuses from the kernel.
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "formats/base/error.h"
#include "replayer/live/strays.h"
#include "replayer/live/traced_process.h"

namespace reweave {

namespace {

constexpr long kOptions =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC;

// Places where the runtime returns to the program: from system calls, into new threads and programs, from the shim.
constexpr const char* kExits[] = {"core_note_leave",
                                  "core_sigreturn",
                                  "core_enter_program",
                                  "core_leave_core_api_point",
                                  "core_leave_core_api_block",
                                  "core_leave_core_api_wake",
                                  "core_leave_core_api_trace_room",
                                  "core_leave_core_api_memory_error"};

std::uint64_t address_of(const CoreSymbols& symbols, const char* name) {
  const auto found = symbols.find(name);
  REQUIRE(found != symbols.end(), "the runtime has no {}; build again with scripts/build", name);
  return found->second;
}

}  // namespace

TracedProcess::TracedProcess(pid_t pid, const CoreSymbols& core)
    : pid_(pid),
      core_(pid),
      symbols_(core),
      hold_at_(address_of(core, "core_note_hold")),
      vforked_at_(address_of(core, "core_note_vforked")),
      syscall_at_(address_of(core, "core_sigreturn")) {
  for (const char* name : kExits)
    if (const auto found = core.find(name); found != core.end()) exits_.insert(found->second);
  try {
    seize_all();
    find_syscall();
  } catch (...) {
    end();  // if nobody collects a tracee, its parent waits forever
    throw;
  }
}

TracedProcess::~TracedProcess() { end(); }

void TracedProcess::seize_all() {
  seize(pid_);
  for (std::size_t known = 0; known != lwps_.size();) {
    known = lwps_.size();
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid_)))
      if (const pid_t lwp = std::stoi(entry.path().filename()); lwps_.count(lwp) == 0) seize(lwp);
  }
}

void TracedProcess::find_syscall() {
  std::uint8_t code[32];
  SYSCALL_CHECK(read_memory(pid_, syscall_at_, code, sizeof code) ? 0 : -1, "reading the replayed process");
  const void* found = memmem(code, sizeof code, "\x0f\x05", 2);
  REQUIRE(found != nullptr, "the runtime does not match its list of symbols; build again with scripts/build");
  syscall_at_ += static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(found) - code);
}

void TracedProcess::end() {
  if (ended_ || lwps_.empty()) return;
  kill(pid_, SIGKILL);
  // The kernel reports the end of the first thread last.
  for (pid_t lwp = 0; lwp != pid_;) {
    int status = 0;
    lwp = waitpid(-1, &status, __WALL);
    if (lwp < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (lwps_.count(lwp) == 0) add_stray(lwp, status);
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) lwp = 0;
  }
  ended_ = true;
}

void TracedProcess::seize(pid_t lwp) {
  const long result = ptrace(PTRACE_SEIZE, lwp, 0, kOptions);
  if (result != 0 && errno == ESRCH && lwp != pid_) return;  // it has ended meanwhile
  SYSCALL_CHECK(result, "attaching to the replayed process");
  lwps_[lwp].running = true;
  ptrace(PTRACE_INTERRUPT, lwp, 0, 0);
  const int status = wait_for(lwp);
  if (!WIFSTOPPED(status)) gone(lwp, status);
}

std::vector<pid_t> TracedProcess::lwps() const {
  std::vector<pid_t> list;
  for (const auto& [lwp, state] : lwps_) list.push_back(lwp);
  return list;
}

int TracedProcess::wait_for(pid_t lwp) {
  std::optional<int> status = take_stray(lwp);
  while (!status) {
    // The kernel reports the end of a first thread only after all other threads were collected, so collect any thread.
    int one = 0;
    const pid_t stopped = waitpid(-1, &one, __WALL);
    if (stopped == lwp) status = one;
    if (stopped > 0 && stopped != lwp) add_stray(stopped, one);
    if (stopped < 0 && errno != EINTR) return SIGKILL;  // wait(2) has no such thread any more
  }
  if (const auto found = lwps_.find(lwp); found != lwps_.end()) found->second.running = false;
  return *status;
}

std::optional<std::pair<pid_t, int>> TracedProcess::next_status() {
  for (auto& [lwp, state] : lwps_) {
    std::optional<int> status;
    std::swap(status, state.status);
    if (!status) status = take_stray(lwp);
    if (!status) continue;
    state.running = false;
    return {{lwp, *status}};
  }
  int status = 0;
  const pid_t lwp = waitpid(-1, &status, __WALL);
  if (lwp < 0) return {};
  if (const auto found = lwps_.find(lwp); found != lwps_.end()) {
    found->second.running = false;
    return {{lwp, status}};
  }
  add_stray(lwp, status);
  return {};
}

void TracedProcess::gone(pid_t lwp, int status) {
  lwps_.erase(lwp);
  if (stepping_ == lwp) stepping_ = 0;
  if (!lwps_.empty() && lwp != pid_) return;
  ended_ = true;
  end_ = WIFEXITED(status) ? Stop{StopReason::kExited, pid_, WEXITSTATUS(status), 0}
                           : Stop{StopReason::kKilled, pid_, WTERMSIG(status), 0};
}

}  // namespace reweave
