// For verbs that read foreign files: gives up rights that they do not need, to contain defects in Reweave's or a
// library's readers.
#pragma once

#include <initializer_list>

#include "formats/base/folder.h"

namespace reweave {

// From now on this thread and those it starts cannot create, change, remove or execute files, except for files in
// `writable`; they cannot open TCP connections or send signals to other processes. Open files stay usable. If
// DEBUGINFOD_URLS asks libdw to fetch debug information, `may_fetch` leaves it the network and its cache. Does nothing
// if the kernel has no Landlock (before 5.13).
void give_up_writing(std::initializer_list<const Folder*> writable = {}, bool may_fetch = false);

}  // namespace reweave
