// The schedules of an explanation as a Perfetto trace: a process for the failing run and one for the nearest passing
// run, and in them a track for each thread. A slice is a turn of the thread, with a slice for each step in it. Arrows
// lead from step to step along the orders that are the cause.
//
// One choice of the schedule is a microsecond, since a run has no other time. The format is Perfetto's TrackEvent
// (protos/perfetto/trace/track_event/track_event.proto); ui.perfetto.dev shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reweave {

// The content of a .pftrace file, from the JSON of the explanation (docs/explanation-format.md).
std::string perfetto_report(const nlohmann::json& report);

}  // namespace reweave
