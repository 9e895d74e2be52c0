#include "formats/base/folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "formats/base/error.h"

namespace reweave {

namespace {

// Errors that mean that the system failed or is short of something; all others mean that this name cannot be used.
constexpr std::array kShortages = {EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, EIO};

[[noreturn]] void fail(const std::string& path, int number) {
  if (std::ranges::find(kShortages, number) != kShortages.end()) {
    errno = number;
    error_detail::throw_system("", path);
  }
  throw BadInput(fmt::format("{}: {}", path, std::strerror(number)));
}

int checked(int result, const std::string& path) {
  if (result < 0) fail(path, errno);
  return result;
}

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFLNK:
      return "a symbolic link";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

// Checks that a name has one component. Names come from constants, or are hashes that the manifest's reader has
// checked.
const char* component(const std::string& name) {
  CHECK(!name.empty() && name != "." && name != ".." && name.find('/') == name.npos, "'{}' is not a name", name);
  return name.c_str();
}

// Opens the file of the O_PATH descriptor `looked_at`, if it is a regular file.
Fd reopen(const Fd& looked_at, const std::string& path, int access = O_RDONLY) {
  struct stat status {};
  checked(::fstat(looked_at.get(), &status), path);
  REQUIRE(S_ISREG(status.st_mode), "{} is {}, not a regular file", path, kind_of(status.st_mode));
  const std::string itself = fmt::format("/proc/self/fd/{}", looked_at.get());
  return Fd(checked(::open(itself.c_str(), access | O_CLOEXEC), path));
}

}  // namespace

Folder Folder::open(const std::string& path) {
  return {path, Fd(checked(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), path))};
}

Folder Folder::create(const std::string& path) {
  const int made = ::mkdir(path.c_str(), 0700);
  REQUIRE(made == 0 || errno != EEXIST, "{} exists already: it is never overwritten, remove it or choose another name",
          path);
  checked(made, path);
  return {path, Fd(checked(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path))};
}

Folder Folder::open_parent(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return open(parent.empty() ? "." : parent);
}

Folder Folder::open_folder(const std::string& name) const {
  const int opened = ::openat(fd(), component(name), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  REQUIRE(opened >= 0 || errno != ENOTDIR, "{} is not a folder", path_of(name));
  return {path_of(name), Fd(checked(opened, path_of(name)))};
}

Folder Folder::create_folder(const std::string& name) const {
  const int made = ::mkdirat(fd(), component(name), 0700);
  REQUIRE(made == 0 || errno != EEXIST, "{} exists already", path_of(name));
  checked(made, path_of(name));
  return open_folder(name);
}

Fd Folder::open_file(const std::string& name) const {
  const std::string path = path_of(name);
  const Fd found(checked(::openat(fd(), component(name), O_PATH | O_NOFOLLOW | O_CLOEXEC), path));
  return reopen(found, path);
}

Fd Folder::open_file_to_change(const std::string& name) const {
  const std::string path = path_of(name);
  const Fd found(checked(::openat(fd(), component(name), O_PATH | O_NOFOLLOW | O_CLOEXEC), path));
  return reopen(found, path, O_RDWR);
}

bool Folder::has(const std::string& name) const {
  struct stat status {};
  return ::fstatat(fd(), component(name), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

Fd Folder::create_file(const std::string& name, int access) const {
  const int made = ::openat(fd(), component(name), access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  REQUIRE(made >= 0 || errno != EEXIST, "{} exists already: it is never overwritten, remove it or choose another name",
          path_of(name));
  return Fd(checked(made, path_of(name)));
}

Fd Folder::recreate_file(const std::string& name) const {
  remove(name);
  return create_file(name);
}

void Folder::rename(const std::string& from, const std::string& to) const {
  checked(::renameat(fd(), component(from), fd(), component(to)), path_of(to));
}

bool Folder::remove(const std::string& name) const {
  const int removed = ::unlinkat(fd(), component(name), 0);
  if (removed < 0 && errno == ENOENT) return false;
  checked(removed, path_of(name));
  return true;
}

void Folder::replace_file(const std::string& name, std::string_view text) const {
  const std::string fresh = name + ".new";
  write_fully(recreate_file(fresh).get(), text, path_of(fresh));
  rename(fresh, name);
}

Fd open_regular(const std::string& path) {
  return reopen(Fd(checked(::open(path.c_str(), O_PATH | O_CLOEXEC), path)), path);
}

Fd try_open_regular(const std::string& path) {
  try {
    return open_regular(path);
  } catch (const Error&) {
    return {};
  }
}

std::string name_in_parent(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  REQUIRE(!name.empty() && name != "." && name != "..", "'{}' is not the name of a file", path);
  return name;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string read_whole(const Folder& folder, const std::string& name, std::size_t most) {
  const Fd file = folder.open_file(name);
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(n, "{}", folder.path_of(name));
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    REQUIRE(text.size() <= most, "{} is longer than {} bytes", folder.path_of(name), most);
  }
}

void write_fully(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(written, "{}", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace reweave
