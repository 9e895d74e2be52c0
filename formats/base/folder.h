// The only way to open files that somebody else may have named or made.
//
// A recording may come from a stranger, as an archive with links, pipes, devices or sockets under the expected names.
// So a folder is opened once, everything in it is reached from that descriptor, one name at a time, and no link is
// followed; only regular files are read, and only new names are written. A file's type is checked before it is opened
// for reading: opening a pipe may block forever, and opening a device may have side effects.
//
// A file that cannot be opened is BadInput, because the user can fix it; a shortage of system resources (descriptors,
// memory, disk space) is a SystemError. Threads: a Folder may be used by several at once.
#pragma once

#include <fcntl.h>
#include <optional>

#include <string>
#include <string_view>

#include "formats/base/fd.h"

namespace reweave {

class Folder {
 public:
  // Opens the folder at `path`, which the user named: links in the path are followed.
  static Folder open(const std::string& path);
  // Creates the folder, mode 0700. Throws BadInput if the name exists.
  static Folder create(const std::string& path);
  // Opens the folder that contains `path`.
  static Folder open_parent(const std::string& path);

  // Opens a folder in this one; `name` has one component.
  Folder open_folder(const std::string& name) const;
  Folder create_folder(const std::string& name) const;

  // Opens a regular file for reading.
  Fd open_file(const std::string& name) const;
  // The same for reading and writing.
  Fd open_file_to_change(const std::string& name) const;
  // True if anything has that name, even a dangling link.
  bool has(const std::string& name) const;
  // Creates a file, mode 0600, for writing, or for the given `access`. Throws BadInput if the name exists.
  Fd create_file(const std::string& name, int access = O_WRONLY) const;
  // As create_file, but first removes a file of that name, such as one that a killed writer left. Only for names that
  // nobody but Reweave uses. Throws if the name is a folder's.
  Fd recreate_file(const std::string& name) const;
  // Renames the file `from` to `to`, replacing another file of that name. A link is replaced, not followed.
  void rename(const std::string& from, const std::string& to) const;
  // Removes a file; false if there is none.
  bool remove(const std::string& name) const;
  // Replaces the file's content with `text`, atomically.
  void replace_file(const std::string& name, std::string_view text) const;

  // For messages, and for interfaces that take only paths.
  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  int fd() const { return fd_.get(); }

 private:
  Folder(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
};

// Opens the regular file at `path` for reading. The path comes from the user, or from a recording that names a file of
// this machine: links are followed.
Fd open_regular(const std::string& path);
// Likewise, but returns an invalid descriptor where open_regular throws.
Fd try_open_regular(const std::string& path);

// The last component of `path`: its name in Folder::open_parent(path). Throws BadInput if it is not the name of a file.
std::string name_in_parent(const std::string& path);

// True if `path` is a folder.
bool is_folder(const std::string& path);

// Returns the contents of the regular file `name` of a folder. Throws BadInput if it is longer than `most` bytes.
std::string read_whole(const Folder& folder, const std::string& name, std::size_t most);

// Writes all of `bytes`. Throws SystemError, which names `path`.
void write_fully(int fd, std::string_view bytes, const std::string& path);

}  // namespace reweave
