#include "recorder/supervisor/recordings.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "formats/error.h"
#include "recorder/supervisor/unsaved.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

fs::path folder() {
  if (const char* own = std::getenv("REWEAVE_DIR")) return own;
  if (const char* data = std::getenv("XDG_DATA_HOME")) return fs::path(data) / "reweave";
  const char* home = std::getenv("HOME");
  REQUIRE(home != nullptr, "neither -o, REWEAVE_DIR nor HOME says where the recording goes; give -o DIR");
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

std::string recording_to_read(const std::string& path) {
  const std::string recording = path.empty() ? latest_recording() : path;
  save_rest(recording);
  return recording;
}

}  // namespace reweave
