#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "explorer/doctor/check.h"
#include "explorer/run/child.h"
#include "formats/base/error.h"
#include "formats/base/private_folder.h"
#include "recorder/supervisor/process/own_limits.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// Runs `body` in a child process and returns its wait status; -1 if there is no child.
template <typename Body>
int wait_status_of(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    _exit(body());
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 ? status : -1;
}

Check check_kernel() {
  utsname name = {};
  uname(&name);
  int major = 0, minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  Check check = {"kernel", Verdict::kOk, fmt::format("Linux {}, {}", name.release, name.machine), ""};
  if (major < 5 || (major == 5 && minor < 11)) {
    check.verdict = Verdict::kFail;
    check.remedy = "record on Linux 5.11 or later";
  }
  return check;
}

// Tries Syscall User Dispatch.
Check check_dispatch() {
  constexpr int kSet = 59, kOn = 1;  // PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON
  const int status = wait_status_of([] {
    static const char allow = 0;
    return prctl(kSet, kOn, 0UL, 4096UL, &allow) == 0 ? 0 : errno;
  });
  Check check = {"system calls", Verdict::kOk, "Syscall User Dispatch works", ""};
  if (status == 0) return check;
  check.verdict = Verdict::kFail;
  const int error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  check.text = fmt::format("Syscall User Dispatch is refused ({})", std::strerror(error));
  check.remedy = error == EINVAL ? "record on Linux 5.11 or later, x86-64"
                                 : "allow prctl in the sandbox or container, or run reweave outside of it";
  return check;
}

Check check_seccomp() {
  const int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
  return {"seccomp", Verdict::kOk,
          mode == 0
              ? "no filter"
              : "a seccomp filter is active; the program cannot do what the filter forbids, with or without recording",
          ""};
}

Check check_container() {
  std::string kind;
  if (fs::exists("/.dockerenv")) kind = "Docker";
  if (fs::exists("/run/.containerenv")) kind = "Podman";
  if (const char* named = std::getenv("container"); kind.empty() && named != nullptr) kind = named;
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) kind += kind.empty() ? "Kubernetes" : ", Kubernetes";
  return {"container", Verdict::kOk, kind.empty() ? "none that is known" : kind, ""};
}

std::string line_of_cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "";
}

Check check_processor() {
  cpu_set_t allowed;
  const int count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
  const char* level = __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
                      : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
                      : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                                            : "x86-64";
  const bool guest = (" " + line_of_cpuinfo("flags") + " ").find(" hypervisor ") != std::string::npos;
  return {"processor", Verdict::kOk,
          fmt::format("{}, {}, {} to use{}", line_of_cpuinfo("model name"), level, count,
                      guest ? ", a virtual machine" : ""),
          ""};
}

// Reads of the time stamp counter are inputs, so recording makes them fault.
Check check_clock() {
  const int status = wait_status_of([] {
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    return static_cast<int>(__rdtsc() & 0);
  });
  if (WIFSIGNALED(status)) return {"time stamps", Verdict::kOk, "rdtsc can be made to fault", ""};
  return {"time stamps", Verdict::kWarn,
          "rdtsc cannot be made to fault, as under some hypervisors (PVM): it is recorded in code that is mapped "
          "from files, but not in code from a JIT",
          ""};
}

template <typename Body>
Check check_by_throwing(const char* name, const char* good, Body body) {
  try {
    body();
    return {name, Verdict::kOk, good, ""};
  } catch (const Error& error) {
    return {name, Verdict::kFail, error.what(), ""};
  }
}

// Runs a verb of Reweave. Throws BadInput with its last line of output if it fails.
void run_verb(std::vector<std::string> argv) {
  argv.insert(argv.begin(), "reweave");
  output_of({argv, "", {}});
}

Check check_recording() {
  return check_by_throwing("recording", "a small program was recorded, and replayed", [] {
    const PrivateFolder folder;
    const std::string recording = folder.path() + "/recording";
    run_verb({"record", "-o", recording, "--", "/bin/sh", "-c", "echo recorded"});
    run_verb({"replay", recording});
  });
}

}  // namespace

std::vector<Check> check_machine() {
  std::vector<Check> checks = {check_kernel(),    check_dispatch(),  check_seccomp(),
                               check_container(), check_processor(), check_clock()};
  checks.push_back(check_by_throwing("limits", "the limits of descriptors, data and stack leave room", [] {
    check_limits_of_target();
    fit_own_limits();
  }));
  checks.push_back(check_by_throwing("own parts", "all are there", [] { find_runtime(); }));
  checks.push_back(check_recording());
  return checks;
}

}  // namespace reweave
