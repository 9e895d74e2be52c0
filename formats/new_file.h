// A file that a verb makes and that is not there yet: what is there is never overwritten.
#pragma once

#include <string>
#include <string_view>

#include "formats/folder.h"

namespace reweave {

class NewFile {
 public:
  // Throws BadInput if there is something of that name, or no folder for it: before the work for what is written.
  explicit NewFile(const std::string& path);
  // Creates it, mode 0600, with `content`; it is whole, or not there. Once.
  void write(std::string_view content) const;

 private:
  Folder folder_;
  std::string name_;
};

}  // namespace reweave
