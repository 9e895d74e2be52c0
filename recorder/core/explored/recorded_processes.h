// The threads and processes of the recorded run. A thread that an explored run makes stands for the one that was
// recorded at the same turn of its creator's, if there is one: it has that one's number, and what that one was told is
// the first answer to its calls.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

inline constexpr ThreadId kNoThread = 0xffff;

// The fork server, before the recording is indexed: those that there are.
void note_first_threads();
// Indexing: that thread or process was made.
void note_recorded_spawn(const wire::SpawnRecord& record);

// The process of a recorded thread.
std::uint16_t recorded_process_of(ThreadId recorded);
// Some process of the recorded run had that number.
bool is_recorded_pid(long pid);

// The recorded thread that `thread` of this run stands for; kNoThread: none.
ThreadId recorded_twin(const Thread& thread);
// Finds one for `child`, which `creator` has made; returns the number that the program knows it by.
std::int32_t number_of_new(const Thread& creator, const Thread& child);

}  // namespace reweave::core
