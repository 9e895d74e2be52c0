#include "recorder/supervisor/tree/tree_watch.h"

#include <linux/futex.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "recorder/alive_processes.h"
#include "recorder/live_threads.h"
#include "recorder/supervisor/process/proc_folder.h"
#include "recorder/supervisor/target/baton.h"
#include "recorder/supervisor/target/core_signal.h"
#include "recorder/supervisor/tree/living_processes.h"
#include "recorder/supervisor/tree/repaired_state.h"

namespace reweave {

namespace {

// The fields of /proc/PID/stat from the third (the state) onwards; empty if the process does not exist.
std::string state_of(pid_t pid) {
  std::ifstream status(proc_folder(pid) + "/stat");
  std::string line;
  std::getline(status, line);
  const auto name_end = line.rfind(')');
  return name_end == std::string::npos ? "" : line.substr(std::min(name_end + 2, line.size()));
}

// The wait(2) status of a zombie; death by SIGKILL if it is no longer known.
int end_of(pid_t pid) {
  const std::string state = state_of(pid);
  const auto last = state.rfind(' ');  // exit_code, the last field (proc(5))
  return last == std::string::npos ? SIGKILL : std::atoi(state.c_str() + last);
}

// True if no thread of the process runs any more: it is gone or a zombie.
bool is_dead(pid_t pid) {
  const std::string state = state_of(pid);
  if (state.empty()) return kill(pid, 0) != 0 && errno == ESRCH;  // /proc may not show it
  if (state[0] != 'Z' && state[0] != 'X') return false;
  // This also holds if only the first thread has ended while others run.
  std::error_code ignored;
  const std::filesystem::directory_iterator tasks(proc_folder(pid) + "/task", ignored);
  return std::distance(begin(tasks), end(tasks)) <= 1;
}

// False for a process that has not announced its ID yet, because it may be alive.
bool is_dead(const Process& process) { return process.real_pid > 1 && is_dead(process.real_pid); }

// A process's relatives (proc(5), stat). All 0: it does not exist.
struct Kinship {
  char state = 0;
  pid_t parent = 0, group = 0, session = 0;
};

Kinship kinship_of(pid_t pid) {
  Kinship result;
  std::istringstream(state_of(pid)) >> result.state >> result.parent >> result.group >> result.session;
  return result;
}

// Ends a wait that no signal ends.
void end_wait(RuntimeState& state, Thread& thread, WaitKind kind) {
  if (thread.state.load() != ThreadState::kBlocked || thread.wait.kind != kind) return;
  thread.wait.result = WaitResult::kWoken;
  leave_wait_queue(state, thread);
  thread.state.store(ThreadState::kReady);
  state.awake.add(thread.id);
}

// Like kick() in core/ptrace/tracing.cc.
void kick(const Process& process, const Thread& thread) { signal_core(process.real_pid, thread.real_tid, kKickValue); }

// Makes threads of the process that wait for children check again.
void kick_waiting(RuntimeState& state, const Process& process) {
  for (const Thread& thread : threads_of(state, process)) {
    const bool waits =
        thread.op.kind == OpKind::kSyscall && (thread.op.detail == SYS_wait4 || thread.op.detail == SYS_waitid);
    if (waits && thread.state.load() == ThreadState::kInKernel) kick(process, thread);
  }
}

}  // namespace

bool TreeWatch::look(std::optional<int> first_status) {
  first_status_ = first_status;
  end_orphans();
  hang_up_adopted();
  // A process that ended the run did so before it died; then no other thread may proceed.
  if (!any_dead() || arena_.header().status.fatal.load() != 0 || !take_baton()) return false;
  RuntimeState& state = arena_.state();
  for (const std::uint32_t index : living_processes(state))
    if (is_dead(state.processes[index])) retire(state.processes[index]);
  retire_unannounced();
  free_baton(state);
  return true;
}

// Also true if a process died after announcing its end, but before passing the baton on. Of thousands, only some are
// checked each time, because asking the kernel takes microseconds for each.
bool TreeWatch::any_dead() {
  constexpr std::uint32_t kMostLooks = 100;
  const RuntimeState& state = arena_.state();
  const std::uint32_t holder = state.holder.load();
  if (holder != 0 && holder <= kMaxThreads && is_dead(state.processes[state.threads[holder - 1].process])) return true;
  const std::uint32_t end = std::min(state.process_count, kMaxProcesses);
  for (std::uint32_t looks = 0; looks < std::min(state.alive_count, kMostLooks); looks++) {
    std::uint32_t index = state.alive.next(std::min(next_looked_at_, end), end);
    if (index == end) index = state.alive.next(0, end);
    if (index == end) return false;
    next_looked_at_ = index + 1;
    if (is_dead(state.processes[index])) return true;
  }
  return false;
}

bool TreeWatch::take_baton() {
  RuntimeState& state = arena_.state();
  std::uint32_t holder = state.holder.load();
  if (holder > kMaxThreads) return false;
  if (holder != 0) {
    Thread& thread = state.threads[holder - 1];
    if (!is_dead(state.processes[thread.process])) return false;
    state.last_reason = wire::SwitchReason::kExited;
  }
  if (!state.holder.compare_exchange_strong(holder, kSupervisorHolds)) return false;
  if (holder == 0) return true;
  state.last_holder = holder - 1;
  repair_state(state);  // the holder may have been changing it
  return true;
}

// Retires processes that were never announced. A creator has the baton until it has announced its process. The
// supervisor has the baton now, so these processes will never be announced.
void TreeWatch::retire_unannounced() {
  RuntimeState& state = arena_.state();
  std::vector<std::uint32_t> found;
  for (const Thread& thread : live_threads(std::as_const(state))) {
    if (state.processes[thread.process].alive != 0 && !is_announced_(thread.id)) found.push_back(thread.process);
  }
  for (const std::uint32_t index : found) {
    take_out(state.processes[index], SIGKILL);
    orphans_.push_back(index);
  }
  end_orphans();
}

// Kills the orphans that have announced their ID. A process that is just being created does not know it yet.
void TreeWatch::end_orphans() {
  std::erase_if(orphans_, [&](std::uint32_t index) {
    const pid_t pid = arena_.state().processes[index].real_pid;
    return pid > 1 && kill(pid, SIGKILL) == 0;
  });
}

// Sends SIGHUP and SIGCONT to the stopped members of a group that has just become orphaned. A group is orphaned if no
// member has a parent in another group of the session; the supervisor does not count as one.
void TreeWatch::hang_up_adopted() {
  const RuntimeState& state = arena_.state();
  const std::vector<std::uint32_t> indices = living_processes(state);
  for (const std::uint32_t i : indices) {
    const Process& process = state.processes[i];
    if (i == 0 || process.real_pid <= 1 || state.processes[process.parent].alive != 0) continue;
    if (std::ranges::find(adopted_, i) != adopted_.end()) continue;
    const Kinship orphan = kinship_of(process.real_pid);
    if (orphan.parent != getpid() || orphan.group == getpgrp()) continue;
    adopted_.push_back(i);
    std::vector<pid_t> members;
    bool stopped = false, kept = false;
    for (const std::uint32_t k : indices) {
      const pid_t pid = state.processes[k].real_pid;
      const Kinship member = pid > 1 ? kinship_of(pid) : Kinship{};
      if (pid <= 1 || member.group != orphan.group) continue;
      members.push_back(pid);
      stopped = stopped || member.state == 'T';
      const Kinship parent = member.parent == getpid() ? Kinship{} : kinship_of(member.parent);
      kept = kept || (parent.session == member.session && parent.group != member.group);
    }
    for (const pid_t pid : members)
      if (stopped && !kept) kill(pid, SIGHUP), kill(pid, SIGCONT);
  }
}

void TreeWatch::retire(Process& process) {
  const int wait_status = process.index == 0 && first_status_ ? *first_status_ : end_of(process.real_pid);
  append_exit(process, wait_status);
  take_out(process, wait_status);
}

void TreeWatch::take_out(Process& process, int wait_status) {
  RuntimeState& state = arena_.state();
  mark_ended(state, process.index);
  for (Thread& thread : threads_of(state, process)) {
    remove_live(state, thread, ThreadState::kExited);
    note_unused_id(state, thread.id);
  }
  end_tracees(process, wait_status);
  release_tracees(process);
  if (process.vfork_parent == 0) return;
  end_wait(state, state.threads[process.vfork_parent - 1], WaitKind::kVfork);
  process.vfork_parent = 0;
}

// Notes the end of a process for its tracers. The kernel tells a tracer that is the parent; the others find it here.
void TreeWatch::end_tracees(const Process& process, int wait_status) {
  RuntimeState& state = arena_.state();
  if (state.tracing_began == 0) return;
  for (Tracee& tracee : state.tracees) {
    if (tracee.in_use == 0 || tracee.dead != 0 || tracee.process != process.index) continue;
    const bool is_told = tracee.tid == process.pid && process.parent == tracee.tracer_process;
    const bool is_over = tracee.in_use == kLetGo || is_told || state.processes[tracee.tracer_process].alive == 0;
    state.threads[tracee.thread].tracee = 0;
    tracee.wait_status = wait_status;
    tracee.stop = StopKind::kNone;
    tracee.reported = 0;
    tracee.dead = is_over ? 0 : 1;
    tracee.in_use = is_over ? 0 : kTraced;
    if (!is_over) kick_waiting(state, state.processes[tracee.tracer_process]);
  }
}

// Releases the tracees of an ended tracer. They continue, or are killed if the tracer asked for that; a later check
// finds the killed ones dead.
void TreeWatch::release_tracees(const Process& tracer) {
  RuntimeState& state = arena_.state();
  if (state.tracing_began == 0) return;
  for (Tracee& tracee : state.tracees) {
    if (tracee.in_use != kTraced || tracee.tracer_process != tracer.index) continue;
    Process& process = state.processes[tracee.process];
    Thread& thread = state.threads[tracee.thread];
    const bool stands = tracee.stop != StopKind::kNone;
    tracee.in_use = tracee.dead == 0 && stands ? kLetGo : 0;
    if (tracee.dead != 0 || process.alive == 0 || process.real_pid <= 1) continue;
    thread.tracee = 0;
    if ((tracee.options & PTRACE_O_EXITKILL) != 0) {
      kill(process.real_pid, SIGKILL);
    } else if (stands) {
      end_wait(state, thread, WaitKind::kTracer);
    } else {
      kick(process, thread);
    }
  }
}

void TreeWatch::note_rest(int wait_status) {
  repair_state(arena_.state());
  retire_unannounced();
  for (const Process& process : alive_processes(arena_.state()))
    append_exit(process, process.index == 0 ? wait_status : SIGKILL);
}

void TreeWatch::append_exit(const Process& process, int wait_status) {
  wire::ProcessExitRecord record = {};
  record.header = {static_cast<std::uint16_t>(wire::RecordKind::kProcessExit), wire::kOutsideThread, sizeof record};
  record.process = process.index;
  record.wait_status = wait_status;
  arena_.publish(&record, sizeof record);
}

}  // namespace reweave
