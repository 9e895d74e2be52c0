// Changes of mapped files through descriptors and paths: of their contents and their size.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Recording, after a call whose row says kChangesFile and before it is logged: logs its effect on a file that a process
// of the tree has mapped.
void log_file_change(const Call& call, long result);

// Replay: repeats what log_file_change logged.
void repeat_file_changes();

// Explored run: if the call is answered from the recording, repeats and logs its effect on a file.
void take_file_change(const wire::SyscallRecord& recorded);

// Makes mappings end where their files end, after another process may have changed the sizes.
void follow_file_changes();

// Replay, after a SIGBUS at `address`: another process may have extended the file mapped there. Updates the file's
// mappings. True if `address` is now accessible.
bool mend_mapping(std::uint64_t address);

}  // namespace reweave::core
