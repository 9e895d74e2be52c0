#include "recorder/core/explored/leaving.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

void leave_recording(const Call& call, const char* why) {
  Text text;
  text << "left the recording: system call " << call.row->name << " of thread " << call.me.id << ": " << why;
  end_run(wire::OutcomeKind::kLeftRecording, text.c_str());
}

}  // namespace reweave::core
