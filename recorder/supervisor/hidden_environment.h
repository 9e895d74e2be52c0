// Values of environment variables that look like secrets are not put into recordings. The program gets the real values;
// its replay gets as many asterisks instead. So a program that only passes a value on replays; one that acts on it may
// diverge, and the replay says which variables are hidden.
#pragma once

#include <string>
#include <vector>

namespace reweave {

class HiddenEnvironment {
 public:
  // `hide`: NAME or NAME=VALUE, both patterns of glob(7), in addition to the usual ones; an empty entry leaves the
  // usual ones out. `keep`: patterns of names that are not hidden. Names are matched without regard to case.
  HiddenEnvironment(const std::vector<std::string>& hide, std::vector<std::string> keep);

  // `environment` as it is to be recorded.
  std::vector<std::string> apply(std::vector<std::string> environment) const;

 private:
  bool hides(const std::string& name, const std::string& value) const;

  std::vector<std::string> hide_, keep_;
};

// The names of the hidden variables in a recorded environment, separated by commas.
std::string hidden_names(const std::vector<std::string>& environment);

}  // namespace reweave
