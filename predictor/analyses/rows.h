// The constructors that analyses/all.cc lists.
#pragma once

#include <memory>

#include "predictor/analysis.h"

namespace reweave {

std::unique_ptr<Analysis> make_races();
std::unique_ptr<Analysis> make_deadlocks();
std::unique_ptr<Analysis> make_atomicity();
std::unique_ptr<Analysis> make_orders();

}  // namespace reweave
