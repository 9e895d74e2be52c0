// Where recordings are kept when the user names no place: $REWEAVE_DIR, else $XDG_DATA_HOME/reweave, else
// ~/.local/share/reweave; `latest` there leads to the newest.
#pragma once

#include <string>

namespace reweave {

// A place for a new recording of `program`, an empty directory <folder>/<name>-<n>. The folder is created. Several
// processes may ask at once.
std::string new_recording_path(const std::string& program);
// Makes `path` what latest_recording() returns.
void note_latest(const std::string& path);
// Throws BadInput if there is none.
std::string latest_recording();
// The recording in the directory `path`, or the latest if that is empty, for somebody who will read it: one whose
// recorder was killed is completed first (unsaved.h). Throws Error.
std::string recording_to_read(const std::string& path);

}  // namespace reweave
