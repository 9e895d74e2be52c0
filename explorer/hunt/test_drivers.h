// Test drivers: commands that start the tests as separate processes. Each test is hunted, not the driver.
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

// Asks the driver which tests `command` would run; none if it is not a known driver. Throws BadInput if the driver's
// answer cannot be read.
std::optional<TestDriver> tests_of(const std::vector<std::string>& command);

}  // namespace reweave
