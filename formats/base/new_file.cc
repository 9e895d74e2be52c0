#include "formats/base/new_file.h"

#include "formats/base/error.h"

namespace reweave {

NewFile::NewFile(const std::string& path) : folder_(Folder::open_parent(path)), name_(name_in_parent(path)) {
  REQUIRE(!folder_.has(name_), "{} exists already: it is never overwritten, remove it or choose another name", path);
}

void NewFile::write(std::string_view content) const {
  const Fd file = folder_.create_file(name_);
  try {
    write_fully(file.get(), content, folder_.path_of(name_));
  } catch (const Error&) {
    folder_.remove(name_);
    throw;
  }
}

}  // namespace reweave
