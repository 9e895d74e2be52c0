#include "recorder/core/explored/tasks/processes.h"

#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/own_descriptors.h"
#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/processes.h"
#include "recorder/core/explored/tasks/members.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/explored/tasks/timers.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                      CLONE_NEWCGROUP | CLONE_NEWPID | CLONE_NEWTIME;
constexpr std::uint64_t kToldBytes = 28, kUsageBytes = 144;  // what waitid writes of a siginfo_t, and of the usage

const Process& process_at(std::uint32_t index) { return state().processes[index]; }
long own_group() { return member(self().process).group; }

// True if the parent ignores its children's end (wait(2), NOTES).
bool is_ignored_by(const Process& parent) {
  const SignalAction& action = state().processes[parent.handlers_of].actions[SIGCHLD];
  return action.handler == 1 || (action.flags & SA_NOCLDWAIT) != 0;
}

std::int32_t code_of(std::int32_t wait_status) {
  return WIFEXITED(wait_status) ? CLD_EXITED : WCOREDUMP(wait_status) ? CLD_DUMPED : CLD_KILLED;
}

SignalInfo info_of(std::uint32_t index) {
  const std::int32_t status = member(index).wait_status;
  const std::int32_t what = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return {{SIGCHLD, 0, code_of(status), 0, process_at(index).pid, static_cast<std::int32_t>(sys(SYS_getuid)), what}};
}

void leave_children(std::uint16_t index) {
  for (std::uint32_t i = 0; i < state().process_count; i++) {
    Member& child = member(i);
    if (child.life == Life::kNotOfRun || child.orphaned || child.parent != index) continue;
    child.orphaned = true;
    if (child.life == Life::kZombie) child.life = Life::kGone;
  }
}

// Index of the process to which the descriptor refers; -1: none.
long process_named_by(long fd) {
  const Descriptor* at = descriptor_at(fd);
  const bool names = at != nullptr && at->kind == FileOf::kChannel && at->channel->kind == ChannelKind::kProcess;
  return names ? at->channel->process : -1;
}

// Opens a file that refers to the process.
bool open_process(std::uint32_t index, Descriptor& to) {
  ChannelFile* file = new_channel(ChannelKind::kProcess);
  if (file == nullptr) return false;
  file->process = static_cast<std::uint16_t>(index);
  file->counter = member(index).life == Life::kZombie ? 1 : 0;
  to = {FileOf::kChannel, true, file, nullptr, 0};
  return true;
}

// The children for which a call waits, in waitid's terms.
struct WantedChild {
  std::uint16_t parent;
  long type, id, options;
};

bool is_meant(const WantedChild& wanted, std::uint32_t index) {
  const Member& child = member(index);
  if (child.orphaned || child.parent != wanted.parent) return false;
  if (child.life != Life::kAlive && child.life != Life::kZombie) return false;
  const bool is_clone = process_at(index).exit_signal != SIGCHLD, clones = (wanted.options & __WCLONE) != 0;
  if ((wanted.options & __WALL) == 0 && is_clone != clones) return false;
  if (wanted.type == P_PID) return process_at(index).pid == wanted.id;
  if (wanted.type == P_PGID) return member(index).group == wanted.id;
  if (wanted.type == P_PIDFD) return index == static_cast<std::uint32_t>(wanted.id);
  return true;
}

// Index of a child that has ended; kMaxProcesses: none has. `some`: whether there is any child at all.
std::uint32_t find_ended(const WantedChild& wanted, bool& some) {
  some = false;
  for (std::uint32_t i = 0; i < state().process_count; i++) {
    if (!is_meant(wanted, i)) continue;
    some = true;
    if (member(i).life == Life::kZombie && (wanted.options & WEXITED) != 0) return i;
  }
  return kMaxProcesses;
}

bool has_ended(const void* what) {
  bool some = false;
  return find_ended(*static_cast<const WantedChild*>(what), some) != kMaxProcesses || !some;
}

// True for waitid, false for wait4.
bool is_waitid(const Call& call) { return call.row->at.info >= 0; }

WantedChild wanted_of(const Call& call) {
  const std::uint16_t own = call.me.process;
  const long group = own_group();
  if (is_waitid(call)) {
    long id = static_cast<std::int32_t>(call.logged[1]);
    if (call.logged[0] == P_PIDFD) id = process_named_by(id);
    return {own, call.logged[0], call.logged[0] == P_PGID && id == 0 ? group : id, call.logged[3]};
  }
  const long pid = static_cast<std::int32_t>(call.logged[0]), options = call.logged[2] | WEXITED;
  if (pid == -1) return {own, P_ALL, 0, options};
  return pid > 0 ? WantedChild{own, P_PID, pid, options} : WantedChild{own, P_PGID, pid == 0 ? group : -pid, options};
}

bool is_valid(const Call& call) {
  constexpr long kAlways = WNOHANG | WSTOPPED | WCONTINUED | __WALL | __WCLONE | __WNOTHREAD;
  if (!is_waitid(call)) return (call.logged[2] & ~kAlways & 0xffffffff) == 0;
  const auto options = static_cast<std::uint32_t>(call.logged[3]);
  return call.logged[0] >= P_ALL && call.logged[0] <= P_PIDFD && (options & ~(kAlways | WEXITED | WNOWAIT)) == 0 &&
         (options & (WEXITED | WSTOPPED | WCONTINUED)) != 0;
}

void put(Output* outputs, std::uint32_t& n, long to, const void* from, std::uint64_t bytes) {
  if (to == 0) return;
  memcpy(reinterpret_cast<void*>(to), from, bytes);
  outputs[n++] = {static_cast<std::uint64_t>(to), bytes};
}

// `index`: the child that ended; kMaxProcesses: none, which the call reports.
long tell_end(Call& call, std::uint32_t index, long options) {
  static constexpr std::byte kNoUsage[kUsageBytes] = {};
  Output outputs[2];
  std::uint32_t n = 0;
  const bool some = index != kMaxProcesses;
  const SignalInfo info = some ? info_of(index) : SignalInfo{};
  if (is_waitid(call)) put(outputs, n, call.logged[2], &info, kToldBytes);
  if (some && !is_waitid(call)) put(outputs, n, call.logged[1], &member(index).wait_status, sizeof(std::int32_t));
  if (some) put(outputs, n, call.logged[is_waitid(call) ? 4 : 3], kNoUsage, kUsageBytes);
  if (some && (options & WNOWAIT) == 0) member(index).life = Life::kGone;
  const long result = is_waitid(call) || !some ? 0 : process_at(index).pid;
  log_call(call, result, outputs, n);
  return result;
}

// The process of the run that `pid` denotes in setpgid and the like; null: none.
Process* meant_by(long pid) { return pid == 0 ? &process() : process_by_pid(pid); }

}  // namespace

long begin_modelled_process(const Call& call, std::uint64_t flags, std::uint64_t pidfd) {
  if ((flags & kNamespaces) != 0) leave_recording(call, "a process in its own namespaces is not modelled");
  if ((flags & CLONE_PIDFD) != 0 && bytes_writable(pidfd, sizeof(std::int32_t)) != sizeof(std::int32_t)) return -EFAULT;
  become_tree();
  return 0;
}

void become_tree() {
  if (state().run_is_tree != 0) return;
  share_model();
  share_waits();
}

std::int32_t number_modelled(const Thread& creator, const Thread& child) {
  if (child.process != creator.process) {
    const Process& made = process_at(child.process);
    const Member& maker = member(creator.process);
    member(child.process) = {Life::kAlive, false, made.parent, 0, maker.group, maker.session};
  }
  return number_of_new(creator, child);
}

void end_modelled_process(std::uint16_t index, std::int32_t wait_status) {
  if (state().run_is_tree == 0) return;
  close_descriptors_of(index);
  forget_timers(index, true);
  leave_children(index);
  Member& ended = member(index);
  if (ended.life != Life::kAlive) return;
  ended.wait_status = wait_status;
  note_ended_process(index);
  const Process& parent = process_at(ended.parent);
  ended.life = ended.orphaned || is_ignored_by(parent) ? Life::kGone : Life::kZombie;
  const std::uint8_t signal = process_at(index).exit_signal;
  if (!ended.orphaned && signal != 0) {
    SignalInfo info = info_of(index);
    info.words[0] = signal;
    send_modelled_to_process(parent.index, info);
  }
  wake_satisfied();
}

// Children that existed at the start of the run are outside of it.
bool explore_wait(Call& call, long& result) {
  if (!is_valid(call)) return false;
  const WantedChild wanted = wanted_of(call);
  bool some = false;
  std::uint32_t ended = find_ended(wanted, some);
  if (!some && state().run_is_tree == 0) return false;
  WaitResult waited = WaitResult::kWoken;
  if (ended == kMaxProcesses && some && (wanted.options & WNOHANG) == 0) {
    waited = wait_until({&wanted, sizeof wanted, has_ended, nullptr, false}, kNoDeadline);
    ended = find_ended(wanted, some);
  }
  if (!some) return result = complete(call, -ECHILD), true;
  if (ended == kMaxProcesses && waited == WaitResult::kInterrupted) return result = complete(call, -EINTR), true;
  return result = tell_end(call, ended, wanted.options), true;
}

long open_modelled_process(const Thread& made) {
  Descriptor to;
  if (made.process == self().process)
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: a descriptor of a thread is not modelled");
  const long fd = unused_number(0);
  if (is_error(fd)) return fd;
  if (!open_process(made.process, to)) return -ENFILE;
  occupy(fd, to, true);
  return fd;
}

bool explore_pidfd_open(Call& call, long& result) {
  const long pid = static_cast<std::int32_t>(call.logged[0]);
  constexpr long kNonblocking = 04000;  // PIDFD_NONBLOCK
  for (std::uint32_t i = state().process_count; i-- > 0;) {
    const bool is_there = process_at(i).alive != 0 || member(i).life == Life::kZombie;
    if (!is_there || process_at(i).pid != pid || (call.logged[1] & ~kNonblocking) != 0) continue;
    Descriptor to;
    if (!open_process(i, to)) return result = complete(call, -ENFILE), true;
    to.channel->nonblocking = call.logged[1] != 0;
    return result = complete(call, new_descriptor(call, to, true)), true;
  }
  return false;
}

bool explore_getppid(Call& call, long& result) {
  const Member& own = member(call.me.process);
  if (own.life != Life::kAlive) return false;
  return result = complete(call, own.orphaned ? 1 : process_at(own.parent).pid), true;
}

bool explore_setpgid(Call& call, long& result) {
  if (state().run_is_tree == 0) return false;
  const Process* target = meant_by(static_cast<std::int32_t>(call.logged[0]));
  if (target == nullptr) return result = complete(call, -ESRCH), true;
  const long group = static_cast<std::int32_t>(call.logged[1]);
  member(target->index).group = group == 0 ? target->pid : group;
  return result = complete(call, 0), true;
}

bool explore_setsid(Call& call, long& result) {
  if (state().run_is_tree == 0) return false;
  Member& own = member(call.me.process);
  if (own.group == process().pid) return result = complete(call, -EPERM), true;
  own.group = own.session = process().pid;
  return result = complete(call, process().pid), true;
}

bool explore_getpgrp(Call& call, long& result) {
  const long group = own_group();
  return group != 0 && (result = complete(call, group), true);
}

bool explore_getpgid(Call& call, long& result) {
  const Process* target = meant_by(static_cast<std::int32_t>(call.logged[0]));
  const long group = target == nullptr ? 0 : member(target->index).group;
  return group != 0 && (result = complete(call, group), true);
}

bool explore_getsid(Call& call, long& result) {
  const Process* target = meant_by(static_cast<std::int32_t>(call.logged[0]));
  const long session = target == nullptr ? 0 : member(target->index).session;
  return session != 0 && (result = complete(call, session), true);
}

}  // namespace reweave::core
