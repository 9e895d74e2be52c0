// The trace of a recording, for who names a recording where a trace is wanted: made at the first use, kept in the
// recording as `trace.rwt`, and used again as long as it is not older than the recording.
//
// Where the recording cannot be written, or only a part of it can be replayed, the trace is in a temporary file that
// has no name any more when it is read, so that nothing is left over however the process ends.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "formats/fd.h"

namespace reweave {

// Why a trace is not of the whole run, and the status that says so; no reason if it is.
struct TraceShortfall {
  std::string reason;
  int exit_status = 0;
};

// What makes traces; the program has it from a folder above this one.
struct TraceMaker {
  // The recording that the command line means; "" means the latest.
  std::function<std::string(const std::string& path)> find = {};
  // Writes the trace of `recording` to `output`, which does not exist. `progress(events)` is called now and then; what
  // it throws ends that, and removes what was written.
  std::function<TraceShortfall(const std::string& recording, const std::string& output,
                               const std::function<void(std::uint64_t events)>& progress)>
      make = {};
};

class RecordingTrace {
 public:
  // Makes the trace, or finds it. Throws as `make` does.
  RecordingTrace(const std::string& recording, const TraceMaker& maker,
                 const std::function<void(std::uint64_t events)>& progress);

  // Where it can be read as long as this object lives.
  const std::string& path() const { return path_; }
  const TraceShortfall& shortfall() const { return shortfall_; }
  bool kept() const { return kept_; }

 private:
  std::string path_;
  Fd nameless_;
  TraceShortfall shortfall_;
  bool kept_ = false;
};

}  // namespace reweave
