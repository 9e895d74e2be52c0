#include "recorder/supervisor/target/target.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "formats/base/error.h"
#include "recorder/alive_processes.h"
#include "recorder/own_files.h"
#include "recorder/splitmix.h"
#include "recorder/supervisor/process/own_limits.h"
#include "recorder/supervisor/target/processor_claim.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

void copy_path(char (&to)[512], const std::string& from) {
  REQUIRE(from.size() < sizeof to, "{}: the path is too long; install reweave in a shorter one", from);
  std::memcpy(to, from.c_str(), from.size() + 1);
}

// The processors that the user gave to Reweave; once a target has been started, this process has fewer.
struct GivenProcessors {
  cpu_set_t set;
  std::uint64_t words[16] = {};  // in the kernel's format
  std::uint32_t bytes = 8;

  GivenProcessors() {
    CPU_ZERO(&set);
    SYSCALL_CHECK(sched_getaffinity(0, sizeof set, &set));
    const long got = syscall(SYS_sched_getaffinity, 0, sizeof words, words);
    if (got > 0) bytes = static_cast<std::uint32_t>(got);
  }
};

const GivenProcessors& given_processors() {
  static const GivenProcessors given;
  return given;
}

// The target sees the processors that the user gave to Reweave, not the one that its threads share.
void note_affinity(RunConfig& config) {
  const GivenProcessors& given = given_processors();
  static_assert(sizeof config.affinity == sizeof given.words);
  config.cpu = claim_processor(given.set);
  std::memcpy(config.affinity, given.words, sizeof given.words);
  config.affinity_bytes = given.bytes;
}

// Chooses the supervisor's processor. Usually it differs from the target's, so that the supervisor drains what the
// target writes. If the two only wait for each other in turn, it is the same one, because waking another processor
// takes longer than a context switch.
void choose_own_cpu(const RunConfig& config) {
  cpu_set_t cpus = given_processors().set;
  const bool in_turn = config.fork_server != 0;
  if (in_turn) CPU_ZERO(&cpus);
  in_turn ? CPU_SET(config.cpu, &cpus) : CPU_CLR(config.cpu, &cpus);
  if (CPU_COUNT(&cpus) > 0) sched_setaffinity(0, sizeof cpus, &cpus);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& s : strings) list.push_back(const_cast<char*>(s.c_str()));
  list.push_back(nullptr);
  return list;
}

// In the child: opens a file that the core needs even after the program has changed its root. A missing file is left
// out and is reported where it is used.
void open_for_core(int fd, const char* path) {
  const int opened = path[0] == 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
  if (opened < 0) return;
  dup2(opened, fd);
  close(opened);
}

// In the child, between vfork and exec: only async-signal-safe calls, and no changes to the supervisor's memory.
[[noreturn]] void become_target(ArenaMemory& arena, char** argv, char** envp, const TargetProgram& program,
                                const sigset_t& mask, const struct sigaction& child_action, pid_t supervisor) {
  const RunConfig& config = arena.header().config;
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < kNeededDescriptors) {
    files.rlim_cur = kNeededDescriptors;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(config.cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(96);  // the supervisor was killed before PR_SET_PDEATHSIG took effect
  // All of the core's descriptors are occupied from the start, so that the kernel gives none of them to the program.
  for (int fd = kArenaFd; fd < kArenaFd + kReservedFds; fd++)
    if (dup2(arena.fd(), fd) < 0) _exit(97);
  if (arena.ring_file() >= 0) dup2(arena.ring_file(), kRingFd);
  open_for_core(kProcFd, "/proc");
  for (const OwnFile& file : own_files(config).items) open_for_core(file.fd, file.path);
  if (program.output >= 0) dup2(program.output, 1), dup2(program.output, 2);
  if (program.run_arena >= 0) dup2(program.run_arena, kRunArenaFd);
  if (program.checkpoints >= 0) dup2(program.checkpoints, kCheckpointFd);
  sigaction(SIGCHLD, &child_action, nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(config.core_path, argv, envp);
  _exit(98);
}

}  // namespace

RuntimePaths find_runtime() {
  constexpr const char* kParts[] = {"reweave-core", "libreweave.so", "libreweave-tsan.so"};
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw BadInput(
        fmt::format("cannot read /proc/self/exe ({}): Reweave needs /proc, which is mounted by "
                    "`mount -t proc proc /proc`",
                    error.message()));
  const fs::path built = self.parent_path() / "recorder", installed = self.parent_path() / "../lib/reweave";
  const fs::path folder = fs::exists(built / kParts[0]) ? built : installed;
  for (const char* part : kParts)
    REQUIRE(fs::exists(folder / part), "{} is missing: install Reweave again, or build it with scripts/build",
            (folder / part).lexically_normal().string());
  const auto path = [&](const char* part) { return fs::canonical(folder / part).string(); };
  return {path(kParts[0]), path(kParts[1]), path(kParts[2])};
}

RunConfig make_config(Mode mode, std::uint64_t seed, const std::string& policy, const RuntimePaths& paths) {
  RunConfig config = {};
  config.mode = mode;
  config.environment = mode == Mode::kRecord ? Environment::kLive : Environment::kRecorded;
  config.seed = seed;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  config.start_time_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  config.patch_calls = 1;
  config.stop_event = ~std::uint64_t{0};
  std::uint64_t generator = seed;
  for (int i = 0; i < 2; i++) {
    const std::uint64_t word = next_splitmix(generator);
    std::memcpy(config.random_bytes + 8 * i, &word, 8);
  }
  REQUIRE(policy.size() < sizeof config.policy.name, "the policy name {} is too long", policy);
  std::memcpy(config.policy.name, policy.c_str(), policy.size() + 1);
  config.policy.seed = next_splitmix(generator);
  config.policy.slice = 50'000;
  config.policy.depth = 3;
  config.policy.length = 1'000;
  note_affinity(config);
  if (const char* fill = std::getenv("REWEAVE_STACK_FILL")) config.stack_fill = std::strtoul(fill, nullptr, 10) & 0xff;
  copy_path(config.core_path, paths.core);
  copy_path(config.shim_path, paths.shim);
  copy_path(config.tsan_path, paths.tsan);
  return config;
}

Target::Target(ArenaMemory& arena, const TargetProgram& program, const std::function<void()>& meanwhile)
    : arena_(arena), has_checkpoints_(program.checkpoints >= 0) {
  check_limits_of_target();
  const RunConfig& config = arena.header().config;
  std::vector<std::string> arguments = {config.core_path, program.path};
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  const std::vector<char*> argv = pointers(arguments), envp = pointers(program.environment);
  sigset_t all, mask;
  sigaction(SIGCHLD, nullptr, &old_child_action_);
  ArenaMemory::wake_at(SIGCHLD);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  const pid_t self = getpid();
  choose_own_cpu(config);
  pid_ = vfork();
  if (pid_ == 0)
    become_target(arena, const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), program, mask,
                  old_child_action_, self);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  SYSCALL_CHECK(pid_, "starting the target");
  try {
    if (meanwhile) meanwhile();
    // The guard can come last, because the program does not run yet. Until then PR_SET_PDEATHSIG suffices, although it
    // gives no message.
    guard_.emplace(arena_, program.recording);
    arena_.let_begin();
  } catch (...) {
    abandon();
    throw;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Target::abandon() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  sigaction(SIGCHLD, &old_child_action_, nullptr);
}

Target::~Target() {
  kill_all();
  // A process that was just forked, or that has announced its end and waits for the supervisor, can be found only by
  // its arena.
  while (collect()) {
    kill_targets_of(arena_);
    usleep(1000);
  }
  sigaction(SIGCHLD, &old_child_action_, nullptr);
}

bool Target::collect() {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended == 0) return !has_checkpoints_ || !status_ || others_live(arena_, pid_);
    if (ended < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (ended == pid_) status_ = status;
  }
}

void Target::kill_all() { kill_tree(arena_, status_ ? 0 : pid_); }

void kill_tree(const ArenaMemory& arena, pid_t first) {
  if (first != 0) kill(first, SIGKILL);
  for (const Process& process : alive_processes(arena.state()))
    if (process.real_pid > 1) kill(process.real_pid, SIGKILL);
}

bool others_live(const ArenaMemory& arena, pid_t first) {
  for (const Process& process : alive_processes(arena.state()))
    if (process.real_pid > 1 && process.real_pid != first && kill(process.real_pid, 0) == 0) return true;
  return false;
}

}  // namespace reweave
