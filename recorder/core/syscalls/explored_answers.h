// What explored runs answer in place of the kernel: functions of the room `explored` that core/wiring.cc names. Called
// by the baton holder, in explored runs only. Each may end the run as OutcomeKind::kLeftRecording.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// What was recorded of a mapping: its error, or the file. Neither: nothing was.
struct RecordedMapping {
  long error;
  const wire::MapFileRecord* file;
};

struct ExploredAnswers {
  // Answers the call, logs the answer, returns its result.
  long (*answer)(Call& call);
  // What answers `call`, an mmap or shmat, whose argument `named` says what is mapped.
  RecordedMapping (*mapping)(const Call& call, int named);
  // Answers an execve that fails; a program is not executed.
  long (*exec)(Call& call);
  // True if the recording has what answers `call`.
  bool (*knows)(const Call& call);
  // The instant at which `clock` (CLOCK_...) shows `time`, as waits have their deadlines.
  std::int64_t (*deadline)(long clock, std::int64_t time);
  // Carries out a kill, tkill or tgkill within the process. False: it goes elsewhere.
  bool (*send_signal)(const Call& call, int number);
  // Delivers to the calling thread what its mask does not keep back any more.
  void (*release_signals)();
};
[[gnu::visibility("hidden")]] extern const ExploredAnswers explored;

}  // namespace reweave::core
