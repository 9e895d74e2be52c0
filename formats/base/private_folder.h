// A temporary folder that only this process's user can look into.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "formats/base/error.h"

namespace reweave {

// Created in the folder of temporary files, and removed with its contents. Throws BadInput.
class PrivateFolder {
 public:
  PrivateFolder() : path_((std::filesystem::temp_directory_path() / "reweave-XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr, "{}: {}", path_, std::strerror(errno));
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace reweave
