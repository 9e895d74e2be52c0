// An output file that the user named on the command line.
//
// A file is replaced atomically: the content goes to a new file beside it, which is renamed at the end. If the name is
// a link, the link is replaced and not followed, so the folder need not be trusted. Pipes and devices, and names in
// /dev and /proc such as /dev/stdout, cannot be replaced and are written in place. One thread.
#pragma once

#include <optional>
#include <string>

#include "formats/base/folder.h"

namespace reweave {

class OutputFile {
 public:
  // Opens a pipe or device to be written in place, or the folder of a file. Throws BadInput if that is impossible.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns the descriptor to write to. Call once. Throws BadInput if the file cannot be created.
  Fd take();
  // Gives the new file its name. Call this when everything is written.
  void commit();

  const std::string& path() const { return path_; }
  // The folder of the file and its name there; null if it is written in place.
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
