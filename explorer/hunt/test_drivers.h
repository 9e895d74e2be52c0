// Commands that start the real tests as processes of their own: each of those is hunted, not the driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explorer/hunt/hunt_result.h"

namespace reweave {

struct TestDriver {
  std::string name;
  std::vector<HuntTarget> tests;
};

// Asks the driver which tests `command` would run; nothing if it is no driver that is known. Throws BadInput if the
// driver cannot say.
std::optional<TestDriver> tests_of(const std::vector<std::string>& command);

}  // namespace reweave
