// What <reweave/check.h> calls.
#include "recorder/shim/runtime.h"

using namespace reweave;        // NOLINT
using namespace reweave::shim;  // NOLINT

// A schedule point of the program's own, that no other operation depends on.
REWEAVE_EXPORT void reweave_point() { point(OpKind::kAccess, nullptr, REWEAVE_CALLER); }
