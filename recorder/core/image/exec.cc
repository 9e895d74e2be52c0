// execve: executes the core again, which loads the new program.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/alive_processes.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/image/exec_check.h"
#include "recorder/core/image/image.h"
#include "recorder/core/log/agree.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/robust.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/fd_sharing.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

bool is_reached_by_name(long fd, const struct stat& status) {
  char name[4096];
  return !is_error(path_of_fd(fd, name, sizeof name)) && leads_to(name, status);
}

// Returns a path by which the new image and the supervisor find the file. This is `path` if the file can be reached by
// name. Otherwise (in memory, unlinked, in no mount, or this program out of reach) it is the path, in `to`, of a
// descriptor of the core's, which stays open.
const char* path_of_nameless(const char* path, char* to, std::size_t room) {
  const long fd = sys(SYS_open, path, O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  const bool nameless = !is_error(fd) && !is_error(sys(SYS_fstat, fd, &status)) &&
                        (status.st_nlink == 0 || is_own_program(path) || !is_reached_by_name(fd, status));
  if (nameless) {
    sys(SYS_dup3, fd, kProgramFd, 0);
    Text text;
    text << "/proc/" << id_seen_from(namespace_of_proc(), process()) << "/fd/" << kProgramFd;
    copy_string(to, room, text.c_str());
  }
  if (!is_error(fd)) sys(SYS_close, fd);
  return nameless ? to : path;
}

// True if the path leads to the core, which the kernel regards as the program: /proc/self/exe, in any spelling or
// through a link.
bool is_core(const char* path) {
  struct stat core = {}, file = {};
  if (is_error(sys(SYS_newfstatat, kProcFd, "self/exe", &core, 0)) || is_error(lent_call(SYS_stat, path, &file)))
    return false;
  return core.st_dev == file.st_dev && core.st_ino == file.st_ino;
}

// Returns the present name of this program, in `to`; if it has none, another path that leads to it.
const char* name_of_program(char* to, std::size_t room) {
  const char* own = program_behind("/proc/self/exe");
  const long n = sys(SYS_readlink, own, to, room - 1);
  if (is_error(n)) return own;
  to[n] = 0;
  struct stat here = {}, file = {};
  if (is_error(sys(SYS_stat, own, &here)) || is_error(lent_call(SYS_stat, to, &file))) return own;
  return here.st_dev == file.st_dev && here.st_ino == file.st_ino ? to : own;
}

}  // namespace

namespace {

// `name`: what the new image sees as its name (AT_EXECFN, comm).
long execute(Call& call, const char* path, const char* name, char** argv, char** envp);

// The file that execveat refers to, as a path: in `to`, or the argument itself. Returns 0 or the error.
long resolve(const Call& call, const char*& path, char* to, std::size_t room) {
  constexpr long kEmptyPath = 0x1000, kNoFollow = 0x100, kHere = -100;  // AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW, AT_FDCWD
  path = reinterpret_cast<const char*>(call.args[1]);
  const auto fd = static_cast<std::int32_t>(call.args[0]);
  if (path[0] == 0 && (call.args[4] & kEmptyPath) == 0) return -ENOENT;
  if ((call.args[4] & ~(kEmptyPath | kNoFollow)) != 0) return -EINVAL;
  struct stat status = {};
  const bool nofollow = (call.args[4] & kNoFollow) != 0;
  const long found = lent_call(SYS_newfstatat, fd, path, &status, call.args[4]);
  if (is_error(found)) return found;
  if (nofollow && (status.st_mode & S_IFMT) == S_IFLNK) return -ELOOP;
  if (path[0] == '/' || (fd == kHere && path[0] != 0)) return 0;
  if (path[0] == 0 && (status.st_nlink == 0 || !is_reached_by_name(fd, status))) {
    Text link;
    link << "/proc/thread-self/fd/" << fd;
    copy_string(to, room, link.c_str());
    path = to;
    return 0;
  }
  const long n = path_of_fd(fd, to, room - 1);
  if (is_error(n)) return n;
  if (path[0] != 0) {
    to[n] = '/';
    copy_string(to + n + 1, room - static_cast<std::size_t>(n) - 1, path);
  }
  path = to;
  return 0;
}

}  // namespace

long handle_execve(Call& call) {
  const auto* path = reinterpret_cast<const char*>(call.args[0]);
  return execute(call, path, path, reinterpret_cast<char**>(call.args[1]), reinterpret_cast<char**>(call.args[2]));
}

namespace {

// The name of a program executed by descriptor (execveat(2)).
const char* name_by_descriptor(const Call& call, const char* path, Text& name) {
  constexpr std::int32_t kHere = -100;  // AT_FDCWD
  const auto fd = static_cast<std::int32_t>(call.args[0]);
  if (path[0] == '/' || fd == kHere) return path;
  name << "/dev/fd/" << fd;
  if (path[0] != 0) name << "/" << path;
  return name.c_str();
}

// True if the file is given by a descriptor that exec closes: if it is a script, its interpreter could not open it.
bool closes_file(const Call& call, const char* name) {
  if (call.row->at.path == 0 || name == reinterpret_cast<const char*>(call.args[1])) return false;
  const long flags = sys(SYS_fcntl, static_cast<std::int32_t>(call.args[0]), F_GETFD);
  return !is_error(flags) && (flags & FD_CLOEXEC) != 0;
}

}  // namespace

long handle_execveat(Call& call) {
  static char resolved[4096];
  Text name;
  const char* path = reinterpret_cast<const char*>(call.args[1]);
  if (has_failed(call)) return inject(call);
  if (live()) {
    const long error = resolve(call, path, resolved, sizeof resolved);
    if (error != 0) return complete(call, error);
  }
  const char* called = name_by_descriptor(call, reinterpret_cast<const char*>(call.args[1]), name);
  return execute(call, path, called, reinterpret_cast<char**>(call.args[2]), reinterpret_cast<char**>(call.args[3]));
}

namespace {

// A new image shares neither signal handlers nor memory with other processes.
void own_everything(Process& here) {
  RuntimeState& s = state();
  if (here.handlers_of != here.index) {
    here.ignored_signals = s.processes[here.handlers_of].ignored_signals;
    memcpy(here.actions, s.processes[here.handlers_of].actions, sizeof here.actions);
  }
  for (SignalAction& action : here.actions) action = {action.handler == 1 ? action.handler : 0, 0, 0, 0};
  if ((here.write_xor_execute & kMdweNotInherited) != 0) here.write_xor_execute = 0;
  own_memory(s, here);
  here.handlers_of = here.index;
}

// The error that the call returns, or 0; then `path` is the path by which the new image finds the program.
long check(const Call& call, const char*& path, const char* name, char** argv, char** envp) {
  static char nameless[64], current[4096];
  if (!live()) {
    const long recorded = explored.execute(call);
    return recorded != 0 ? recorded : check_arguments(argv, envp);
  }
  if (is_core(path)) path = name_of_program(current, sizeof current);
  long error = check_executable(path, closes_file(call, name));
  if (error == 0) error = check_arguments(argv, envp);
  if (error != 0) return error;
  path = path_of_nameless(path, nameless, sizeof nameless);
  return 0;
}

long execute(Call& call, const char* path, const char* name, char** argv, char** envp) {
  if (replaying()) {
    const long result = inject(call);
    if (is_error(result)) return result;
  } else {
    const long error = check(call, path, name, argv, envp);
    log_call(call, error, nullptr, 0);
    if (error != 0) return error;
  }
  path = agree_on_program(path, "executed a program");
  Thread& me = call.me;
  release_robust_of(process());
  own_everything(process());
  release_vfork_parent();
  for (const Thread& other : threads_of(state(), process()))
    if (other.id != me.id) leave_tracing(other, 0);
  retire_process_threads(me.process, me.id);
  unshare_descriptors();
  const bool in_tree = state().run_is_tree != 0;
  if (in_tree) explored.begin_image();
  process().executed_in_run = in_tree ? 1 : 0;
  auto** list = reinterpret_cast<const char**>(scratch_of(me));
  long n = 0;
  list[n++] = in_tree ? kRunName : config().core_path;
  list[n++] = path;
  list[n++] = name;
  if (argv == nullptr || argv[0] == nullptr) list[n++] = "";  // as in the kernel
  for (long i = 0; argv != nullptr && argv[i] != nullptr; i++) list[n++] = argv[i];
  list[n] = nullptr;
  me.clear_child_tid = me.robust_list = me.altstack_base = me.altstack_size = 0;
  me.has_scratch = 0;
  if (Tracee* tracee = tracee_of(me)) tracee->message = static_cast<std::uint64_t>(me.tid);  // for PTRACE_EVENT_EXEC
  me.tid = process().pid;
  me.outer_tid = process().outer_pid;
  process().handled_signals = 0;
  // The new image does not have its handler yet.
  const std::uint64_t watchdog = signal_bit(kWatchdogSignal);
  sys(SYS_rt_sigprocmask, SIG_BLOCK, &watchdog, nullptr, 8);
  constexpr long kEmptyPath = 0x1000;  // AT_EMPTY_PATH
  const long result = sys(SYS_execveat, kCoreFd, "", list, envp, kEmptyPath);
  Text text;
  text << "cannot execute the core for " << path << " (error " << static_cast<int>(-result) << ")";
  if (result == -EACCES) text << ": a sandbox that the program has entered, or a rule of this system, forbids it";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

}  // namespace

}  // namespace reweave::core
