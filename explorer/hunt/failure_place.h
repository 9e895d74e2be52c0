// Finds the source location of a failure. The failure's story has only the last part of a file's name, but the
// candidates predicted during the search have full paths.
#pragma once

#include <map>
#include <string>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

class SourcePaths {
 public:
  // `predictions`: a folder of candidates, which need not exist.
  explicit SourcePaths(const std::string& predictions);

  // Sets file and line from the first place that the story names; only the file's name if no path is known.
  void place(HuntFailure& failure) const;

 private:
  std::map<std::string, std::string> paths_;  // by the last part
};

// Makes the path relative to the working directory if the file is below it, because CI services look there for the
// files of a checkout.
std::string path_in_checkout(const std::string& file);

// Finds the first "(file:line)" in a text; false if there is none.
bool find_place(const std::string& text, std::string& file, std::uint32_t& line);

}  // namespace reweave
