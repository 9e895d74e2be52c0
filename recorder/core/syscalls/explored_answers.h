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
  // An execve or execveat: the error that it gives, or 0.
  long (*execute)(const Call& call);
  // Behind that: the files of the new program, one after the other, as they were when it was executed. Null: none left.
  const wire::MapFileRecord* (*next_image)();
  // A process is to be made, with these CLONE_ flags and the place for a descriptor of it: 0, or the error.
  long (*begin_process)(const Call& call, std::uint64_t flags, std::uint64_t pidfd);
  // The number of a thread or process that `creator` has just made.
  std::int32_t (*number_of_new)(const Thread& creator, const Thread& child);
  // A descriptor that names the process that was made, for its maker; negative: there can be none.
  long (*open_process)(const Thread& made);
  // Table `to` of descriptors becomes a copy of `from` (Thread::fd_table).
  bool (*copy_descriptors)(std::uint32_t from, std::uint32_t to);
  // The calling process has a new image, and descriptors of its own: what does not survive that is gone.
  void (*begin_image)();
  // True if the recording has what answers `call`.
  bool (*knows)(const Call& call);
  // The instant at which `clock` (CLOCK_...) shows `time`, as waits have their deadlines.
  std::int64_t (*deadline)(long clock, std::int64_t time);
  // Carries out a kill or the like. False: it goes elsewhere.
  bool (*send_signal)(const Call& call, int number, long& result);
  // The calling process ignores the signal from now on.
  void (*forget_signal)(int number);
  // Delivers to the calling thread what its mask does not keep back any more.
  void (*release_signals)();
};
[[gnu::visibility("hidden")]] extern const ExploredAnswers explored;

}  // namespace reweave::core
