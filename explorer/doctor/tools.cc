#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "explorer/doctor/check.h"
#include "explorer/run/child.h"
#include "formats/base/error.h"
#include "formats/elf/source_lines.h"
#include "replayer/watchpoints.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// The output of a command; empty if it cannot be started or fails.
std::string tool_output(const std::vector<std::string>& command) {
  try {
    return output_of({command, "", {}});
  } catch (const BadInput&) {
    return "";
  }
}

std::string content_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Check check_gdb() {
  const std::string version = first_line(tool_output({"gdb", "-nx", "--version"}));
  if (version.empty()) return {"gdb", Verdict::kWarn, "not installed: replay -g needs it", "apt install gdb"};
  if (tool_output({"gdb", "-nx", "-batch", "-ex", "python print(6 * 7)"}).find("42") == std::string::npos)
    return {"gdb", Verdict::kWarn, version + ", without Python: replay -g needs it",
            "install a gdb that is built with Python, such as Debian's gdb"};
  return {"gdb", Verdict::kOk, version, ""};
}

// gdb attaches to the replay. Recording needs no ptrace.
Check check_ptrace() {
  const std::string scope = content_of("/proc/sys/kernel/yama/ptrace_scope");
  if (scope == "2" || scope == "3")
    return {"ptrace", Verdict::kWarn, fmt::format("Yama's ptrace_scope is {}: gdb cannot attach to a replay", scope),
            "sysctl kernel.yama.ptrace_scope=1; recording needs no ptrace"};
  return {"ptrace", Verdict::kOk, scope.empty() ? "not restricted by Yama" : "Yama's ptrace_scope is " + scope, ""};
}

Check check_watchpoints() {
  if (hardware_watchpoints_work()) return {"watchpoints", Verdict::kOk, "those of the processor work", ""};
  return {"watchpoints", Verdict::kWarn,
          "the processor's watchpoints do nothing on this machine; gdb steps instead, slowly", ""};
}

// Checks whether a compiler has the run-time library that -fsanitize=thread links.
Check check_compiler(const char* compiler, const std::vector<std::string>& places, const char* remedy) {
  const std::string version = first_line(tool_output({compiler, "--version"}));
  if (version.empty()) return {compiler, Verdict::kOk, "not installed", ""};
  const bool found = std::ranges::any_of(places, [&](const std::string& file) {
    std::string path = first_line(tool_output({compiler, "-print-file-name=" + file}));
    return path.find('/') != std::string::npos && fs::exists(path);
  });
  if (found) return {compiler, Verdict::kOk, version + ", with ThreadSanitizer", ""};
  return {compiler, Verdict::kWarn, version + ", without the library for -fsanitize=thread", remedy};
}

// Why no hardware counter is available; empty if one is.
std::string why_no_counters() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0) {
    close(static_cast<int>(fd));
    return "";
  }
  switch (errno) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "the processor's counters are missing, as in most virtual machines";
    case EACCES:
    case EPERM:
      return fmt::format("perf_event_open is not permitted (perf_event_paranoid is {})",
                         content_of("/proc/sys/kernel/perf_event_paranoid"));
    default:
      return fmt::format("perf_event_open: {}", std::strerror(errno));
  }
}

Check check_rr() {
  const std::string reason = why_no_counters();
  if (!reason.empty()) return {"rr", Verdict::kOk, "could not run here: " + reason + "; Reweave needs none", ""};
  const std::string paranoid = content_of("/proc/sys/kernel/perf_event_paranoid");
  const bool strict = !paranoid.empty() && paranoid.front() != '-' && paranoid != "0" && paranoid != "1";
  return {"rr", Verdict::kOk,
          strict && geteuid() != 0 ? fmt::format("could run here if perf_event_paranoid, now {}, were 1", paranoid)
                                   : "could run here: the processor's counters can be read",
          ""};
}

}  // namespace

std::vector<Check> check_tools() {
  return {check_gdb(),
          check_ptrace(),
          check_watchpoints(),
          check_compiler("gcc", {"libtsan.so", "libtsan.a"}, "install libtsan, on Debian with gcc itself"),
          check_compiler("clang",
                         {"libclang_rt.tsan-x86_64.a", "lib/linux/libclang_rt.tsan-x86_64.a",
                          "lib/x86_64-pc-linux-gnu/libclang_rt.tsan.a", "libclang_rt.tsan.a"},
                         "install compiler-rt, on Debian libclang-rt-VERSION-dev"),
          check_rr()};
}

}  // namespace reweave
