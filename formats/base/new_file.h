// A new file that a verb creates; an existing file is never overwritten.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/folder.h"

namespace reweave {

class NewFile {
 public:
  // Throws BadInput if the name exists or its folder does not. Construct it before the work that produces the content.
  explicit NewFile(const std::string& path);
  // Creates the file, mode 0600, with `content`; on an error no file remains. Call once.
  void write(std::string_view content) const;

 private:
  Folder folder_;
  std::string name_;
};

}  // namespace reweave
