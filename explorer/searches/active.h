// The active tester, which auto runs first.
#pragma once

#include "explorer/searches/search.h"

namespace reweave {

std::unique_ptr<Search> make_active(const SearchOptions& options);

}  // namespace reweave
