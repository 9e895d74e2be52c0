#include "recorder/supervisor/record/recordings.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/terminal.h"
#include "recorder/supervisor/ring/unsaved.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

fs::path folder() {
  if (const char* own = std::getenv("REWEAVE_DIR")) return own;
  if (const char* data = std::getenv("XDG_DATA_HOME")) return fs::path(data) / "reweave";
  const char* home = std::getenv("HOME");
  REQUIRE(home != nullptr,
          "there is no folder for the recording, because REWEAVE_DIR and HOME are not set; give -o DIR");
  return fs::path(home) / ".local/share/reweave";
}

}  // namespace

std::string new_recording_path(const std::string& program) {
  std::error_code problem;
  fs::create_directories(folder(), problem);
  REQUIRE(!problem, "cannot create {}: {}; give -o DIR", folder().string(), problem.message());
  const std::string name = fs::path(program).filename().string();
  for (int n = 0;; n++) {
    const fs::path candidate = folder() / fmt::format("{}-{}", name, n);
    if (::mkdir(candidate.c_str(), 0700) == 0) return candidate.string();
    SYSCALL_CHECK(errno == EEXIST ? 0 : -1, "{}", candidate.string());
  }
}

void note_latest(const std::string& path) {
  if (fs::absolute(path).parent_path() != folder()) return;
  const fs::path link = folder() / "latest",
                 fresh = folder() / fmt::format(".latest-{}", fs::path(path).filename().string());
  std::error_code ignored;
  fs::create_symlink(fs::path(path).filename(), fresh, ignored);
  fs::rename(fresh, link, ignored);
}

std::string latest_recording() {
  const fs::path link = folder() / "latest";
  REQUIRE(fs::exists(link), "there is no recording in {}; name one, or make one with `reweave record`",
          folder().string());
  return fs::canonical(link).string();
}

namespace {

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() == fs::file_type::directory;
}

// The failures that a hunt or a search has kept in `folder`, or a hunt's tests in folders below it; sorted.
std::vector<std::string> kept_failures(const fs::path& folder, int depth = 2) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (!is_folder(entry.path())) continue;
    if (entry.path().filename().string().starts_with("failure-") && fs::exists(entry.path() / "manifest", ignored)) {
      found.push_back(entry.path().string());
    } else if (depth > 1) {
      const std::vector<std::string> below = kept_failures(entry.path(), depth - 1);
      found.insert(found.end(), below.begin(), below.end());
    }
  }
  std::ranges::sort(found);
  return found;
}

// The recording that is meant by a folder: itself, or the only failure that a hunt or a search has kept in it.
std::string recording_in(const std::string& path) {
  constexpr std::size_t kMostNamed = 8;
  std::error_code ignored;
  if (!is_folder(path) || fs::exists(fs::path(path) / "manifest", ignored)) return path;
  const std::vector<std::string> failures = kept_failures(path);
  if (failures.empty()) return path;  // which its reader refuses
  if (failures.size() == 1) {
    notice("{} is not a recording; using the failure in it, {}", path, failures.front());
    return failures.front();
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(failures.size(), kMostNamed); i++)
    list += (list.empty() ? "" : ", ") + failures[i];
  if (failures.size() > kMostNamed) list += fmt::format(" and {} more", failures.size() - kMostNamed);
  throw BadInput(fmt::format("{} has several recordings; name one: {}", path, list));
}

}  // namespace

std::string recording_to_read(const std::string& path) {
  const std::string recording = path.empty() ? latest_recording() : recording_in(path);
  save_rest(recording);
  return recording;
}

}  // namespace reweave
