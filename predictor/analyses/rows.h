// The constructors that analyses/all.cc lists.
#pragma once

#include <memory>

#include "predictor/decide/analysis.h"

namespace reweave {

std::unique_ptr<Analysis> make_races();
std::unique_ptr<Analysis> make_deadlocks();
std::unique_ptr<Analysis> make_waits();
std::unique_ptr<Analysis> make_atomicity();
std::unique_ptr<Analysis> make_two_variables();
std::unique_ptr<Analysis> make_orders();
std::unique_ptr<Analysis> make_lost_wakeups();
std::unique_ptr<Analysis> make_lifetimes();
std::unique_ptr<Analysis> make_double_frees();
std::unique_ptr<Analysis> make_null_uses();

}  // namespace reweave
