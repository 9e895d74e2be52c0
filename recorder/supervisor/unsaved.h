// What a recorder that was killed had not yet put into its recording.
//
// While a recording is made its ring is the file `unsaved` in it, mapped by the program and by the supervisor: a page
// with the counters of the ring (recorder/arena.h, RingMarks), then the ring. A record stays there until the block that
// has it is written. So whoever is killed, what the program has published is in the recording. A recording that is
// complete has no such file. Where the file system cannot map or reserve it, the ring is memory, and what is in it dies
// with the recorder.
#pragma once

#include <string>

#include "formats/folder.h"

namespace reweave {

// The verb of `reweave` that calls save_rest, for the guard.
inline constexpr char kSaveRestVerb[] = "save-rest";

// Makes the file, with its space on the disk reserved. Invalid if the file system has no such files or no room. The
// descriptor holds the recording against save_rest, in this process and in those that inherit it.
Fd create_unsaved(const Folder& recording);
// For a complete recording, and for one that nobody will want.
void remove_unsaved(const Folder& recording);

// Moves what is in `unsaved` of a recording into its events and its manifest, and removes the file. Does nothing if
// there is none, if it is another user's, or while the recorder lives. Waits for its program to end. Throws Error.
void save_rest(const std::string& recording);

}  // namespace reweave
