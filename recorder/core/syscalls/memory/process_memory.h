// Memory of processes that is written through descriptors of /proc/PID/mem: what a replay has to do as well.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// A descriptor of the memory of a process of the tree, or the error.
long open_memory(const Process& process);

// Recording, after a call that wrote to a file of /proc: if that is the memory of a process of the tree, logs what it
// holds now.
void log_memory_change(const Call& call, std::uint64_t address, std::uint64_t bytes);

// Replay: carries out what log_memory_change logged.
void repeat_memory_change(const wire::SyscallRecord& record);

// The advice (madvise(2)) as it is given to the kernel, in every mode; and what the core has to know of it afterwards.
long repeatable_advice(long advice);
void note_advice(std::uint64_t start, std::uint64_t bytes, long advice);
// Replay: what a call had done before it stopped at `end`.
void repeat_advice(std::uint64_t start, std::uint64_t end, long advice);

}  // namespace reweave::core
