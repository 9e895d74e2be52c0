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
  std::optional<std::uint32_t> process;  // index of the process to debug; none: the one that runs there
  std::optional<ThreadId> next_thread;   // who runs next, if the event before is a switch
  std::uint64_t total = 0;               // events of the recording
  bool replaces_tsan = false;            // a process loaded our library in place of ThreadSanitizer's runtime
};

// `where` is an event number or "end": the last event before the process ended. An event at which a program is still
// being loaded is replaced by the first at which it runs. `pid` is the process to debug, by the id that it had; 0: at
// the end, of a run that failed, the last process that died of a fault or abort, else the first; before that, whichever
// runs. Throws BadInput if there is no such event or process, or it is not there at the event.
HoldPlan plan_hold(const std::string& recording, const std::string& where, std::int32_t pid = 0);

}  // namespace reweave
