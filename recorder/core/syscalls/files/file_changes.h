// Changes of mapped files through descriptors and paths: their contents and their size.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Recording, after a call whose row says kChangesFile and before it is logged: logs what it did to a file that somebody
// in the tree has mapped.
void log_file_change(const Call& call, long result);

// Replay: carries out what log_file_change logged.
void repeat_file_changes();

// Explored run: the same with what a call that is answered from the recording did to a file, and logs it.
void take_file_change(const wire::SyscallRecord& recorded);

// Makes mappings end where their files do, of which another process may have changed the sizes.
void follow_file_changes();

// Replay: the file of that region has grown since, in another process. True if `address` can be touched now.
bool mend_mapping(std::uint64_t address);

}  // namespace reweave::core
