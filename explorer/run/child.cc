#include "explorer/run/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "explorer/run/interruption.h"
#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "formats/elf/source_lines.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void become(const ChildCommand& command, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  if (command.output >= 0) dup2(command.output, 1);
  if (command.errors >= 0) dup2(command.errors, 2);
  if (!command.working_directory.empty() && chdir(command.working_directory.c_str()) != 0) _exit(126);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (command.argv.front() == "reweave")
    execv("/proc/self/exe", argv.data());
  else
    execvp(argv[0], argv.data());
  _exit(127);
}

pid_t start(const ChildCommand& command) {
  const pid_t parent = getpid();
  const pid_t pid = SYSCALL_CHECK(fork(), "starting {}", command.argv.front());
  if (pid == 0) become(command, parent);
  return pid;
}

Fd memory_file(const char* name) { return Fd(SYSCALL_CHECK(memfd_create(name, MFD_CLOEXEC), "{}", name)); }

std::string content_of(const Fd& file) {
  std::string text;
  char buffer[65536];
  for (off_t at = 0;;) {
    const ssize_t n = pread(file.get(), buffer, sizeof buffer, at);
    if (n < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(n, "reading what a command wrote");
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    at += n;
  }
}

std::string last_line(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty() && trimmed(rest).ends_with('\n')) rest = rest.substr(0, rest.rfind('\n'));
  return std::string(trimmed(rest.substr(rest.rfind('\n') + 1)));
}

}  // namespace

int ChildEnd::status() const {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

ChildEnd run_child(const ChildCommand& command, Clock::time_point deadline) {
  constexpr useconds_t kFirstPause = 200, kLongestPause = 10'000;
  const pid_t pid = start(command);
  ChildEnd end;
  bool asked = false;
  for (useconds_t pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const pid_t ended = waitpid(pid, &end.wait_status, WNOHANG);
    if (ended == pid) return end;
    if (ended < 0 && errno != EINTR) SYSCALL_CHECK(ended, "waiting for {}", command.argv.front());
    if (!asked && (interruption() != 0 || Clock::now() > deadline)) {
      asked = true;
      end.out_of_time = interruption() == 0;
      kill(pid, SIGTERM);
    }
    usleep(pause);
  }
}

std::string output_of(ChildCommand command) {
  const Fd output = memory_file("output"), errors = memory_file("errors");
  command.output = output.get();
  command.errors = errors.get();
  const int status = run_child(command, Clock::time_point::max()).status();
  std::string said = last_line(content_of(errors));
  if (said.empty()) said = last_line(content_of(output));
  REQUIRE(status != 127 || !said.empty(), "{} cannot be started", command.argv.front());
  REQUIRE(status == 0, "{} ended with status {}: {}", command.argv.front(), status, said);
  return content_of(output);
}

}  // namespace reweave
