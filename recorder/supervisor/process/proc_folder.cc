#include "recorder/supervisor/process/proc_folder.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "formats/base/fd.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// The text after `label` in the file, up to the end of the line.
std::optional<std::string> field_of(const std::string& path, std::string_view label) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(label)) return line.substr(label.size());
  return {};
}

bool numbers_are_ours() {
  static const bool ours = [] {
    std::error_code ignored;
    return fs::read_symlink("/proc/self", ignored) == std::to_string(getpid());
  }();
  return ours;
}

// The number of the process in /proc; 0: none. The kernel shows it in the fdinfo of a pidfd.
long number_of(pid_t pid) {
  if (numbers_are_ours()) return pid;
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return 0;
  const auto number = field_of("/proc/self/fdinfo/" + std::to_string(process.get()), "Pid:");
  return number ? std::max(0L, std::atol(number->c_str())) : 0;
}

std::string folder_of(long number) { return "/proc/" + std::to_string(number); }

}  // namespace

std::string proc_folder(pid_t pid) { return folder_of(number_of(pid)); }

std::string proc_folder(pid_t pid, pid_t tid) {
  const std::string tasks = proc_folder(pid) + "/task";
  if (numbers_are_ours()) return tasks + "/" + std::to_string(tid);
  std::error_code ignored;
  for (const fs::directory_entry& task : fs::directory_iterator(tasks, ignored)) {
    const auto numbers =
        field_of(task.path() / "status", "NSpid:");  // the outermost namespace's first, this one's last
    if (numbers && std::atol(numbers->substr(numbers->find_last_of(" \t") + 1).c_str()) == tid) return task.path();
  }
  return tasks + "/0";
}

}  // namespace reweave
