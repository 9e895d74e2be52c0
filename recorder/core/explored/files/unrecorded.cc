// Files that only an explored run opens. What a failing run does last, it often does for the first time: it writes a
// report, tells the time in a message (/etc/localtime), or looks whether a debugger is attached (/proc/self/status).
//
// Files of the system are read as they are now, because a recording only names those that it maps. A file that the run
// makes or empties is its own: nothing is written outside. The contents that other files had at the time of the
// recording are unknown.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/words.h"
#include "recorder/core/explored/files/contents.h"
#include "recorder/core/explored/files/own_descriptors.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/files/system_paths.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostBytes = 4 << 20, kMostOfKernel = 1 << 20;

// Files in which the kernel describes itself or this process, by the beginnings of their names. The process's mappings
// include the core's. Files with the IDs of processes are left out.
constexpr const char* kOfKernel[] = {"/proc/meminfo",     "/proc/cpuinfo",       "/proc/loadavg",
                                     "/proc/uptime",      "/proc/version",       "/proc/self/maps",
                                     "/proc/self/statm",  "/proc/self/cmdline",  "/proc/sys/kernel",
                                     "/proc/filesystems", "/sys/devices/system/"};

// The last part of the program's name, as the kernel cuts it.
struct ShortName {
  char text[16] = {};
  ShortName() {
    const char* name = process().program;
    for (const char* at = name; *at != 0; at++)
      if (*at == '/') name = at + 1;
    for (std::size_t i = 0; i + 1 < sizeof text && name[i] != 0; i++) text[i] = name[i];
  }
};

// Returns the text of proc_pid_status(5), with only those lines whose values are known.
Text status_text() {
  const Process& me = process();
  Text text;
  text << "Name:\t" << ShortName().text << "\nState:\tR (running)\nTgid:\t" << me.pid << "\nPid:\t" << me.pid
       << "\nTracerPid:\t0\nThreads:\t" << me.live_threads << "\n";
  return text;
}

// Builds the record that a mapping of the file open as `fd` logs, except for the place. Null if the file has no name or
// there is no room.
const wire::MapFileRecord* image_of(long fd, const struct stat& status) {
  static char path[4096];
  if (is_error(path_of_fd(fd, path, sizeof path)) || path[0] != '/') return nullptr;
  const std::uint64_t length = string_length(path);
  const std::uint64_t bytes = sizeof(wire::MapFileRecord) + round_to(length + 1, 8);
  auto* record = reinterpret_cast<wire::MapFileRecord*>(take_model_room(round_to(bytes, kPage)));
  if (record == nullptr) return nullptr;
  record->header.kind = static_cast<std::uint16_t>(wire::RecordKind::kMapFile);
  record->header.thread = self().id;
  record->header.bytes = static_cast<std::uint32_t>(bytes);
  record->device = status.st_dev;
  record->inode = status.st_ino;
  record->file_size = static_cast<std::uint64_t>(status.st_size);
  record->ctime_ns = static_cast<std::int64_t>(status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec);
  record->flags = kMapReadOnly;
  memcpy(record + 1, path, length);
  return record;
}

// The call's descriptor for a file that has these bytes.
long open_bytes(Call& call, const struct stat& status, const Span& bytes, const wire::MapFileRecord* image = nullptr) {
  const std::uint32_t file = add_file(status.st_dev, status.st_ino, status.st_mode, open_flags(call));
  if (file == kNothing) return complete(call, -ENFILE);
  put_contents(call, recorded_file(file).contents, 0, {&bytes, 1});
  contents_at(recorded_file(file).contents).image = image;
  const long fd = take_outside_number(call, -1, file, (open_flags(call) & O_CLOEXEC) != 0);
  return complete(call, fd);
}

bool is_of_kernel(const char* path) {
  for (const char* beginning : kOfKernel)
    if (starts_with(path, beginning)) return true;
  return false;
}

// Reads a whole file of the system. False: it is not such a file, or too large.
bool read_system_file(long fd, bool of_kernel, struct stat& status, Span& bytes) {
  if (is_error(sys(SYS_fstat, fd, &status)) || (status.st_mode & S_IFMT) != S_IFREG) return false;
  const std::uint64_t room = of_kernel ? kMostOfKernel : static_cast<std::uint64_t>(status.st_size);
  if (room > kMostBytes) return false;
  bytes.data = take_model_room(round_to(room + 1, kPage));
  if (bytes.data == nullptr) return false;
  for (bytes.bytes = 0; bytes.bytes < room;) {
    const long got = sys(SYS_read, fd, bytes.data + bytes.bytes, room - bytes.bytes);
    if (got == -EINTR) continue;
    if (is_error(got)) return false;
    if (got == 0) break;
    bytes.bytes += static_cast<std::uint64_t>(got);
  }
  return true;
}

bool open_system_file(Call& call, const char* path, long& result) {
  const long fd = sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (is_error(fd)) return result = complete(call, fd), true;
  struct stat status = {};
  Span bytes = {};
  const bool of_kernel = is_of_kernel(path), is_read = read_system_file(fd, of_kernel, status, bytes);
  const wire::MapFileRecord* image = is_read && !of_kernel ? image_of(fd, status) : nullptr;
  sys(SYS_close, fd);
  if (is_read) result = open_bytes(call, status, bytes, image);
  return is_read;
}

bool open_text(Call& call, const Text& text, long& result) {
  struct stat status = {};
  status.st_mode = S_IFREG | 0444;
  const Span bytes = {reinterpret_cast<std::byte*>(const_cast<char*>(text.c_str())), text.size()};
  return result = open_bytes(call, status, bytes), true;
}

// The loader looks for a library in several folders.
bool lacks_library(const char* path) {
  for (const char* at = path; *at != 0; at++)
    if (starts_with(at, ".so")) return sys(SYS_faccessat, AT_FDCWD, path, 0) == -ENOENT;
  return false;
}

bool open_for_reading(Call& call, const char* path, long& result) {
  if (belongs_to_system(path) || is_of_kernel(path)) return open_system_file(call, path, result);
  if (lacks_library(path)) return result = complete(call, -ENOENT), true;
  if (string_equal(path, "/proc/self/status")) return open_text(call, status_text(), result);
  if (!string_equal(path, "/proc/self/comm")) return false;
  Text name;
  name << ShortName().text << "\n";
  return open_text(call, name, result);
}

// 0 if files can be created in the folder, or the kernel's error.
long may_make_in(const char* folder) {
  constexpr long kWriteAndSearch = 3;  // W_OK | X_OK
  return sys(SYS_faccessat, AT_FDCWD, folder, kWriteAndSearch);
}

// 0 if the file `path` can be created, or the kernel's error.
long may_make(const char* path) {
  static char folder[4096];
  std::uint64_t slash = 0;
  for (std::uint64_t i = 0; path[i] != 0; i++) {
    if (i + 1 == sizeof folder) return -ENAMETOOLONG;
    folder[i] = path[i];
    if (path[i] == '/') slash = i + 1;
  }
  folder[slash] = 0;
  return may_make_in(slash == 0 ? "." : folder);
}

// Opens the file as an empty one. `allowed`: 0, or the error with which the kernel refuses it.
bool open_empty(Call& call, long allowed, struct stat status, long& result) {
  status.st_mode = S_IFREG | 0600;
  return result = is_error(allowed) ? complete(call, allowed) : open_bytes(call, status, {}), true;
}

// True if the run may empty or lengthen the file without knowing what is in it.
bool needs_no_contents(long flags) {
  return (flags & O_TRUNC) != 0 || ((flags & O_APPEND) != 0 && (flags & O_ACCMODE) == O_WRONLY);
}

bool open_for_writing(Call& call, const char* path, long flags, long& result) {
  struct stat status = {};
  const long found = sys(SYS_newfstatat, AT_FDCWD, path, &status, 0);
  const bool is_new = found == -ENOENT && (flags & O_CREAT) != 0;
  if (is_error(found) && !is_new) return result = complete(call, found), true;
  if (!is_new && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return result = complete(call, -EEXIST), true;
  if (!is_new && ((status.st_mode & S_IFMT) != S_IFREG || !needs_no_contents(flags))) return false;
  constexpr long kWrite = 2;  // W_OK
  const long allowed = is_new ? may_make(path) : sys(SYS_faccessat, AT_FDCWD, path, kWrite);
  return open_empty(call, allowed, status, result);
}

bool open_device(Call& call, const char* path, long& result) {
  const Source source = source_of_device(path);
  if (source == Source::kRecorded) return false;
  const std::uint32_t file = add_device(source, open_flags(call));
  if (file == kNothing) return result = complete(call, -ENFILE), true;
  const long fd = take_outside_number(call, -1, file, (open_flags(call) & O_CLOEXEC) != 0);
  return result = complete(call, fd), true;
}

}  // namespace

bool explore_open(Call& call, long& result) {
  const char* path = first_path(call);
  const long flags = open_flags(call);
  if ((flags & O_PATH) != 0 || path == nullptr) return false;
  const bool from_folder =
      (call.row->flags & kFirstIsFolder) != 0 && static_cast<std::int32_t>(call.logged[0]) != AT_FDCWD;
  if (from_folder && *path != '/') return false;
  if ((flags & O_TMPFILE) == O_TMPFILE) return open_empty(call, may_make_in(path), {}, result);
  if ((flags & O_DIRECTORY) != 0) return false;
  if (open_device(call, path, result)) return true;
  if ((flags & O_ACCMODE) != O_RDONLY) return open_for_writing(call, path, flags, result);
  return (flags & (O_CREAT | O_TRUNC)) == 0 && open_for_reading(call, path, result);
}

}  // namespace reweave::core
