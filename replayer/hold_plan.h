// Decides from the recording at which event a replay holds for a debugger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/recording_reader.h"

namespace reweave {

// How the run ends, as far as it matters to a debugger.
enum class Ending { kExits, kSignalled, kStopped, kTruncated };  // kStopped: by the runtime (deadlock, hang, ...)

struct HoldPlan {
  std::uint64_t event = 0;  // hold before this event
  bool at_end = false;      // it is the last event before the end
  Ending ending = Ending::kExits;
  std::optional<std::uint32_t> process;  // index of the process to debug; none: the one running at the event
  std::optional<ThreadId> next_thread;   // the thread that runs next, if the event before is a switch
  std::uint64_t processes = 0;           // of the recording
  std::uint64_t total = 0;               // events of the recording
  std::uint64_t first = 1, last = 0;     // events before which the process can be debugged; 1, 0: not known
  // Events at which a program is being loaded: from, and up to and with.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> loading;
  bool replaces_tsan = false;  // a process loaded libreweave-tsan.so in place of ThreadSanitizer's runtime
};

// `where` is an event number or "end": the last event before the process ended. An event at which a program is still
// being loaded is replaced by the first at which it runs. `pid` is the process to debug, by its recorded id. With 0, at
// the end of a failed run: the last process that died of a fault or abort, else the first; elsewhere: the process
// running at the event. Throws BadInput if there is no such event or process, or if the process does not exist at the
// event.
HoldPlan plan_hold(const std::string& recording, const std::string& where, std::int32_t pid = 0);

}  // namespace reweave
