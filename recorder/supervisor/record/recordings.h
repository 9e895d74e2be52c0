// The folder of recordings if the user names no place: $REWEAVE_DIR, else $XDG_DATA_HOME/reweave, else
// ~/.local/share/reweave. `latest` there is a link to the newest.
#pragma once

#include <string>

namespace reweave {

// Creates an empty directory <folder>/<name>-<n> for a new recording of `program`, and the folder if necessary. Several
// processes may call this at once.
std::string new_recording_path(const std::string& program);
// Makes `path` what latest_recording() returns.
void note_latest(const std::string& path);
// Throws BadInput if there is none.
std::string latest_recording();
// Returns the path of a recording to read: the one in the directory `path`, or the latest if `path` is empty. If a hunt
// or a search has kept exactly one failure in that directory, returns that failure. If the recorder was
// killed, completes the recording (unsaved.h). Throws Error.
std::string recording_to_read(const std::string& path);

}  // namespace reweave
