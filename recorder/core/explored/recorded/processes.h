// The threads and processes of the recorded run. The n-th thread that a thread of an explored run creates corresponds
// to the n-th thread that its creator created in the recording, if there is one. The same holds for processes. The new
// thread gets the recorded thread's ID, and its calls preferably get the answers that the recorded thread got.
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

// The recorded thread to which `thread` of this run corresponds; kNoThread: none.
ThreadId recorded_twin(const Thread& thread);
// Finds the recorded thread to which `child`, created by `creator`, corresponds. Returns the ID by which the program
// knows `child`; a new one if there is no such thread.
std::int32_t number_of_new(const Thread& creator, const Thread& child);

}  // namespace reweave::core
