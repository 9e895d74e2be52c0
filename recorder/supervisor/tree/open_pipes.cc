#include "recorder/supervisor/tree/open_pipes.h"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "recorder/supervisor/process/proc_folder.h"
#include "recorder/supervisor/tree/living_processes.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// Returns the pipe to which a link of /proc leads; empty if it leads to something else.
std::string pipe_at(const fs::path& link) {
  std::error_code ignored;
  const std::string name = fs::read_symlink(link, ignored).string();
  return name.starts_with("pipe:[") ? name : "";
}

// Returns O_RDONLY, O_WRONLY or O_RDWR; nullopt if /proc does not show it.
std::optional<int> access_of(const std::string& folder, const std::string& descriptor) {
  std::ifstream info(folder + "/fdinfo/" + descriptor);
  for (std::string label; info >> label;)
    if (int flags = 0; label == "flags:" && info >> std::oct >> flags) return flags & O_ACCMODE;
  return {};
}

// Calls use(pipe, descriptor) for each pipe that the process of this folder of /proc has open. False if /proc does not
// show its descriptors.
template <typename Use>
bool for_each_pipe(const std::string& folder, const Use& use) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/fd", failed))
    if (const std::string pipe = pipe_at(entry.path()); !pipe.empty()) use(pipe, entry.path().filename().string());
  return !failed;
}

}  // namespace

std::string OpenPipes::name_of(std::int32_t process, std::uint64_t fd) {
  return pipe_at(proc_folder(process) + "/fd/" + std::to_string(fd));
}

void OpenPipes::look() {
  looked_ = true;
  known_ = for_each_pipe("/proc/self", [&](const std::string& pipe, const std::string&) { ours_.insert(pipe); });
  for (const std::uint32_t i : living_processes(state_)) {
    const std::string folder = proc_folder(state_.processes[i].real_pid);
    known_ = known_ && for_each_pipe(folder, [&](const std::string& pipe, const std::string& descriptor) {
               open_[pipe].push_back({i, folder, descriptor});
             });
  }
}

std::optional<std::vector<std::uint32_t>> OpenPipes::at_other_end(const std::string& pipe, int access) {
  if (!looked_) look();
  if (!known_ || ours_.contains(pipe)) return {};
  const auto [answer, is_new] = answers_.try_emplace({pipe, access}, std::vector<std::uint32_t>());
  if (!is_new) return answer->second;
  for (const Open& open : open_[pipe]) {
    const auto its = access_of(open.folder, open.descriptor);
    if (!its) return answer->second = std::nullopt;
    std::vector<std::uint32_t>& found = *answer->second;
    if (*its != access && (found.empty() || found.back() != open.process)) found.push_back(open.process);
  }
  return answer->second;
}

}  // namespace reweave
