// Reads whose value does not say which write they must see.
//
// Writes of the same value, one after the other in the trace, are equal to a read that follows them. A correct
// reordering may let it see the first of them, although the trace shows the last: then the events between them need not
// come first. The check of a reordering (witness_check.h) compares values in any case; the search for one starts from
// links, so it is made a second time with other links.
#pragma once

#include <optional>

#include "predictor/model/trace_model.h"

namespace reweave {

// The trace with each read linked to the first of the writes in a row that stored the value it got. Empty if that is
// the link of each read already. Events and indices are the same. Copies the model.
std::optional<TraceModel> link_to_first_equal(const TraceModel& model);

}  // namespace reweave
