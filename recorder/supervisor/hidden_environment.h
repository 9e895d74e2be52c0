// Values of environment variables that look like secrets are not put into recordings. The program gets them as they
// are; its replay gets, in the place of each, as many asterisks. So what only passes a value on replays; what acts on
// it may diverge, and the replay says which are hidden.
#pragma once

#include <string>
#include <vector>

namespace reweave {

class HiddenEnvironment {
 public:
  // `hide`: NAME or NAME=VALUE, both patterns of glob(7), besides the usual ones; an empty text: not the usual ones.
  // `keep`: patterns of names that are not hidden. Case does not matter in names.
  HiddenEnvironment(const std::vector<std::string>& hide, std::vector<std::string> keep);

  // `environment` as it is recorded.
  std::vector<std::string> apply(std::vector<std::string> environment) const;

 private:
  bool hides(const std::string& name, const std::string& value) const;

  std::vector<std::string> hide_, keep_;
};

// The names of those that are hidden in a recorded environment, separated by commas.
std::string hidden_names(const std::vector<std::string>& environment);

}  // namespace reweave
