// Values of environment variables that look like secrets are not put into recordings. The program gets the real values;
// its replay gets as many asterisks instead, unless it is given the value again. So a program that only passes a value
// on replays; one that acts on it may diverge, and the replay says which variables are hidden.
//
// The user gives the value of NAME as REWEAVE_ENV_NAME in the environment of the process that replays. Processes that
// it starts to replay for it inherit the value.
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

// `recorded` with the hidden values that were given. Throws BadInput if a given value is not as long as the recorded
// one, because everything above it in the program's memory would then be elsewhere.
std::vector<std::string> with_given_values(std::vector<std::string> recorded);

// Gives a value of a recorded environment to this process. `given`: NAME=VALUE, or NAME for the value that the variable
// has in this process. Throws BadInput if the recording hides no variable of that name, or if there is no such value.
// Not thread-safe (setenv(3)).
void give_value(const std::vector<std::string>& recorded, const std::string& given);

// The names of the variables in an environment whose values are hidden.
std::vector<std::string> hidden_names(const std::vector<std::string>& environment);

}  // namespace reweave
