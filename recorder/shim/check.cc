// Functions behind <reweave/check.h>.
#include "recorder/shim/runtime.h"

using namespace reweave;        // NOLINT
using namespace reweave::shim;  // NOLINT

// A schedule point set by the program itself; no other operation belongs to it.
REWEAVE_EXPORT void reweave_point() { point(OpKind::kAccess, nullptr, REWEAVE_CALLER); }

// A number below `count`. The search chooses it, and each replay gets the same.
REWEAVE_EXPORT std::uint64_t reweave_choose(std::uint64_t count) { return api().choose(count); }
