#include "formats/base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "formats/base/error.h"

namespace reweave {

namespace {

// True for devices and for /proc names of open files.
bool is_systems(const std::string& path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

bool is_written_to_as_it_is(const std::string& path) {
  struct stat status {};
  if (is_systems(path)) return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  if (::lstat(path.c_str(), &status) != 0) return false;
  return !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (is_written_to_as_it_is(path)) {
    fd_ = Fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY));
    REQUIRE(fd_.valid(), "{} cannot be written: {}", path, std::strerror(errno));
    return;
  }
  REQUIRE(!is_folder(path), "{} is a folder", path);
  name_ = name_in_parent(path);
  fresh_ = fmt::format("{}.new-{}", name_, ::getpid());
  folder_ = Folder::open_parent(path);
}

OutputFile::~OutputFile() {
  if (uncommitted_) ::unlinkat(folder_->fd(), fresh_.c_str(), 0);
}

Fd OutputFile::take() {
  if (!folder_) return std::move(fd_);
  Fd file = folder_->recreate_file(fresh_);
  uncommitted_ = true;
  return file;
}

void OutputFile::commit() {
  if (folder_) folder_->rename(fresh_, name_);
  uncommitted_ = false;
}

}  // namespace reweave
