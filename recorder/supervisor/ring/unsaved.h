// Records that a killed recorder had not yet put into its recording.
//
// While a recording is made, its ring is the file `unsaved` in it, mapped by the program and by the supervisor: a page
// with the counters of the ring (recorder/arena.h, RingMarks), then the ring. A record stays there until its block is
// written. So whichever process is killed, the records that the program has published are in the recording. A complete
// recording has no such file. If the file system cannot map or reserve the file, the ring is memory, and its contents
// are lost with the recorder.
#pragma once

#include <string>

#include "formats/base/folder.h"

namespace reweave {

// The verb of `reweave` that calls save_rest; the guard uses it.
inline constexpr char kSaveRestVerb[] = "save-rest";

// Creates the file, with its disk space reserved. Invalid if the file system does not support such files or has no
// room. The descriptor locks the recording against save_rest, in this process and in those that inherit it.
Fd create_unsaved(const Folder& recording);
// Removes the file of a recording that is complete or not wanted.
void remove_unsaved(const Folder& recording);

// Moves the contents of a recording's `unsaved` into its events and its manifest, and removes the file. Does nothing if
// there is none, if it belongs to another user, or while the recorder lives. Waits for the program to end. Throws
// Error.
void save_rest(const std::string& recording);

}  // namespace reweave
