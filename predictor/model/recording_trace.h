// The trace of a recording, for commands that accept a recording in place of a trace. It is made at the first use, kept
// in the recording as `trace.rwt`, and reused as long as it is not older than the recording.
//
// If the recording cannot be written, or can be replayed only in part, the trace goes to a temporary file. That is
// unlinked before it is read, so that nothing is left over even if the process is killed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "formats/base/fd.h"

namespace reweave {

// The reason why a trace does not cover the whole run, and the exit status for that; empty and 0 if it does.
struct TraceShortfall {
  std::string reason;
  int exit_status = 0;
};

// The functions that make traces; a higher folder provides them.
struct TraceMaker {
  // Resolves a recording named on the command line; "" means the latest.
  std::function<std::string(const std::string& path)> find = {};
  // Writes the trace of `recording` to `output`, which must not exist yet. `progress(events)` is called now and then;
  // if it throws, the partial output is removed.
  std::function<TraceShortfall(const std::string& recording, const std::string& output,
                               const std::function<void(std::uint64_t events)>& progress)>
      make = {};
};

class RecordingTrace {
 public:
  // Makes the trace, or finds it. Throws as `make` does.
  RecordingTrace(const std::string& recording, const TraceMaker& maker,
                 const std::function<void(std::uint64_t events)>& progress);

  // The path of the trace, valid as long as this object lives.
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
