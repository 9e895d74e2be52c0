// Files that somebody else may have named or made: the one way in which they are opened.
//
// A recording may come from a stranger, as an archive that holds links, pipes, devices or sockets under the names that
// we look for. So a folder is opened once, everything in it is reached from that descriptor, one name at a time, and no
// link is followed; only regular files are read, and only new names are written. A file is looked at before it is
// opened for reading: to open a pipe may wait for ever, and to open a device may do something.
//
// What cannot be opened is the user's to mend, so it is BadInput; a system that has run out of something (descriptors,
// memory, room on the disk) is a SystemError. Threads: a Folder may be used by several at once.
#pragma once

#include <fcntl.h>
#include <optional>

#include <string>
#include <string_view>

#include "formats/fd.h"

namespace reweave {

class Folder {
 public:
  // The folder at `path`, which a user named: links on the way are followed.
  static Folder open(const std::string& path);
  // Makes it, mode 0700. Throws BadInput if there is something of that name.
  static Folder create(const std::string& path);
  // The folder that `path` lies in.
  static Folder open_parent(const std::string& path);

  // A folder in this one, for which `name` is one component.
  Folder open_folder(const std::string& name) const;
  Folder create_folder(const std::string& name) const;

  // Opens a regular file for reading.
  Fd open_file(const std::string& name) const;
  // The same to read and write what it has.
  Fd open_file_to_change(const std::string& name) const;
  // Is there anything of that name, be it a dangling link?
  bool has(const std::string& name) const;
  // Creates a file, mode 0600, for writing, or what `access` says. Throws BadInput if there is something of that name.
  Fd create_file(const std::string& name, int access = O_WRONLY) const;
  // As create_file, but what has that name is removed first: for names that only we use, left over by a writer that was
  // killed. Throws if it is a folder.
  Fd create_file_anew(const std::string& name) const;
  // Gives the file `from` the name `to`, which may be taken by another file. A link is replaced, not followed.
  void rename(const std::string& from, const std::string& to) const;
  // Removes a file; false if there is none.
  bool remove(const std::string& name) const;
  // The file consists of `text` afterwards: of the old content, or of all of the new.
  void replace_file(const std::string& name, std::string_view text) const;

  // For messages, and for those that can only be given a path.
  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  int fd() const { return fd_.get(); }

 private:
  Folder(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
};

// Opens the regular file at `path` for reading. The path is a user's, or a recording names it as a file of this
// machine: links are followed.
Fd open_regular(const std::string& path);
// The same; no descriptor where open_regular throws.
Fd try_open_regular(const std::string& path);

// The last component of `path`: its name in Folder::open_parent(path). Throws BadInput if that is none.
std::string name_in_parent(const std::string& path);

// Is there a folder at `path`?
bool is_folder(const std::string& path);

// Writes all of it. Throws SystemError, which names `path`.
void write_fully(int fd, std::string_view bytes, const std::string& path);

}  // namespace reweave
