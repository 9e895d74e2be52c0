// Writes to the memory of processes through /proc/PID/mem, which a replay must repeat.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Opens the memory of a process of the tree; returns a descriptor or the error.
long open_memory(const Process& process);

// Recording, after a call that wrote to a file of /proc: if that is the memory of a process of the tree, logs its new
// contents.
void log_memory_change(const Call& call, std::uint64_t address, std::uint64_t bytes);

// Replay: repeats what log_memory_change logged.
void repeat_memory_change(const wire::SyscallRecord& record);

// repeatable_advice returns the advice (madvise(2)) that the core gives to the kernel in place of `advice`, in every
// mode. note_advice notes the effect of `advice` in the core's tables.
long repeatable_advice(long advice);
void note_advice(std::uint64_t start, std::uint64_t bytes, long advice);
// Replay: repeats the effect of a call up to `end`, where it stopped.
void repeat_advice(std::uint64_t start, std::uint64_t end, long advice);

}  // namespace reweave::core
