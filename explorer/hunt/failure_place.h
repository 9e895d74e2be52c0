// Where in the source a failure is. Its story has the last part of a file's name only; what was predicted beside the
// search has whole paths.
#pragma once

#include <map>
#include <string>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

class SourcePaths {
 public:
  // `predictions`: a folder of candidates, which need not be there.
  explicit SourcePaths(const std::string& predictions);

  // Sets file and line from the first place that the story names; the file without its folder if no path is known.
  void place(HuntFailure& failure) const;

 private:
  std::map<std::string, std::string> paths_;  // by the last part
};

// The first "(file:line)" of a text; false if there is none.
bool find_place(const std::string& text, std::string& file, std::uint32_t& line);

}  // namespace reweave
