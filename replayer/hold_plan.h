// Decides from the recording at which event a replay holds for a debugger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/recording/recording_reader.h"

namespace reweave {

// The end of the debugged process, or of the whole run, as a debugger sees it.
enum class Ending {
  kExits,
  kSignalled,
  kStopped,    // by the runtime (deadlock, hang, ...)
  kRests,      // the process does not run again: another one kills it, or is the last one to run
  kTruncated,  // the recording does not say
};

struct HoldPlan {
  std::uint64_t event = 0;  // hold before this event
  bool at_end = false;      // `event` is the last event before the end
  Ending ending = Ending::kExits;
  std::optional<std::uint32_t> process;  // index of the process to debug; none: the one running at the event
  std::optional<ThreadId> next_thread;   // the thread that runs next, if the event before is a switch
  std::uint64_t processes = 0;           // in the recording
  std::uint64_t total = 0;               // events in the recording
  std::uint64_t first = 1, last = 0;     // the process can be debugged before these events; 1, 0: not known
  // Ranges of events during which a program is loaded: first and last event.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> loading;
  bool replaces_tsan = false;  // a process loaded libreweave-tsan.so in place of ThreadSanitizer's runtime
};

// `where` is an event number, or "end" for the last event before the process ended. If a program is still being loaded
// at that event, the first event after the loading is used instead.
//
// `pid` is the recorded id of the process to debug. 0 means the process that runs at the event. At the end of a failed
// run, 0 means the last process that died of a fault or abort, or the first process if none did.
//
// Throws BadInput if there is no such event or process, or if the process does not exist at the event.
HoldPlan plan_hold(const std::string& recording, const std::string& where, std::int32_t pid = 0);

}  // namespace reweave
