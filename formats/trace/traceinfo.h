// A recording's or a trace's description as JSON, for scripts. Reads no events.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/recording/recording_reader.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

nlohmann::json recording_info(const RecordingReader& reader);
nlohmann::json trace_info(const TraceReader& reader);

}  // namespace reweave
