// The threads and processes of the recorded run. A thread that an explored run creates stands for the thread that its
// creator created at the same turn in the recording, if there is one: it has that thread's ID, and its calls preferably
// get the answers that the recorded thread got.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

inline constexpr ThreadId kNoThread = 0xffff;

// The fork server, before indexing: notes the existing threads.
void note_first_threads();
// Indexing: that thread or process was created.
void note_recorded_spawn(const wire::SpawnRecord& record);

// The process of a recorded thread.
std::uint16_t recorded_process_of(ThreadId recorded);
// True if a process of the recorded run had that ID.
bool is_recorded_pid(long pid);

// The recorded thread that `thread` of this run stands for; kNoThread: none.
ThreadId recorded_twin(const Thread& thread);
// Finds one for `child`, created by `creator`; returns the ID by which the program knows it.
std::int32_t number_of_new(const Thread& creator, const Thread& child);

}  // namespace reweave::core
