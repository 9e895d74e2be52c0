// The answers of explored runs in place of the kernel's: functions of the folder `explored`, named by core/wiring.cc.
// Called by the baton holder, in explored runs only. Each may end the run as OutcomeKind::kLeftRecording.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// The recorded result of a mapping: its error, or the file. Neither if nothing was recorded.
struct RecordedMapping {
  long error;
  const wire::MapFileRecord* file;
};

struct ExploredAnswers {
  // Answers the call, logs the answer, returns its result.
  long (*answer)(Call& call);
  // Finds the recorded result of `call`, an mmap or shmat. Its argument number `named` identifies what is mapped.
  RecordedMapping (*mapping)(const Call& call, int named);
  // An execve or execveat: the error that it returns, or 0.
  long (*execute)(const Call& call);
  // After `execute`: returns the next file of the new program, as it was when the program was executed. Null: no more
  // files.
  const wire::MapFileRecord* (*next_image)();
  // A process is about to be created with these CLONE_ flags and this address for its pidfd: 0, or the error.
  long (*begin_process)(const Call& call, std::uint64_t flags, std::uint64_t pidfd);
  // The number of a thread or process that `creator` has just created.
  std::int32_t (*number_of_new)(const Thread& creator, const Thread& child);
  // A pidfd for the process just created, for its creator; negative if that is impossible.
  long (*open_process)(const Thread& made);
  // Fills in all that the model knows of the file to which `fd`, just opened, leads.
  void (*identify)(long fd, wire::NamedFiles& to);
  // Makes descriptor table `to` a copy of `from` (Thread::fd_table).
  bool (*copy_descriptors)(std::uint32_t from, std::uint32_t to);
  // The calling process has a new image and its own descriptors: discards what does not survive exec.
  void (*begin_image)();
  // True if the recording has an answer to `call`.
  bool (*knows)(const Call& call);
  // The instant at which `clock` (CLOCK_...) shows `time`, in the unit of deadlines of waits.
  std::int64_t (*deadline)(long clock, std::int64_t time);
  // Carries out a kill or a similar call. False: the signal goes to a process outside the run.
  bool (*send_signal)(const Call& call, int number, long& result);
  // The calling process now ignores the signal.
  void (*forget_signal)(int number);
  // Delivers signals that the calling thread's mask no longer blocks.
  void (*release_signals)();
};
[[gnu::visibility("hidden")]] extern const ExploredAnswers explored;

}  // namespace reweave::core
