// Decides from the recording where exactly a replay can hold for a debugger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/recording_reader.h"

namespace reweave {

// How the run ends, as far as a debugger cares.
enum class Ending { kExits, kSignalled, kStopped, kTruncated };  // kStopped: by the runtime (deadlock, hang, ...)

struct HoldPlan {
  std::uint64_t event = 0;  // hold before this event
  bool at_end = false;      // it is the last event before the end
  Ending ending = Ending::kExits;
  std::optional<ThreadId> next_thread;  // who runs next, if the event before is a switch
  std::uint64_t total = 0;              // events of the recording
  bool replaces_tsan = false;           // a process loaded our library in place of ThreadSanitizer's runtime
};

// `where` is an event number or "end": the last event before the first process ended. An event at which a program is
// still being loaded is replaced by the first at which it runs. Throws BadInput if there is no such event.
HoldPlan plan_hold(const std::string& recording, const std::string& where);

}  // namespace reweave
