// A file that the user named on the command line for what a verb writes.
//
// Where there is a file of that name, or none, or a link, it has the whole new content or is as it was: a new file is
// written beside it and takes the name in the end. So no link is followed, wherever the folder comes from. What cannot
// be replaced, a pipe or a device, is written to as it is; and so is what /dev or /proc calls by another name, such as
// /dev/stdout. One thread.
#pragma once

#include <optional>
#include <string>

#include "formats/folder.h"

namespace reweave {

class OutputFile {
 public:
  // Opens what is written to as it is, or the folder of a file. Throws BadInput if that is impossible.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The descriptor to write to. Once. Throws BadInput if the file cannot be created.
  Fd take();
  // What was written is whole: the name means it from now on.
  void commit();

  const std::string& path() const { return path_; }
  // Where it lies, and its name there; none if it is written to as it is.
  const Folder* folder() const { return folder_ ? &*folder_ : nullptr; }
  const std::string& name() const { return name_; }

 private:
  std::string path_;
  std::optional<Folder> folder_;
  std::string name_, fresh_;
  Fd fd_;
  bool uncommitted_ = false;
};

}  // namespace reweave
