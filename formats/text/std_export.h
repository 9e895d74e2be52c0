// A trace as STD text (std_format.h). The location of an event is the number of its site in the trace.
#pragma once

#include <cstdint>
#include <ostream>

#include "formats/text/std_format.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

// Returns the number of lines written. Throws BadFile at damage in the trace, after writing everything before it.
std::uint64_t export_std(const TraceReader& trace, std::ostream& out, StdDialect dialect);

}  // namespace reweave
