// For verbs that read files from elsewhere: what they need not do, they cannot do from here on, so that a defect in a
// reader, ours or a library's, is contained.
#pragma once

#include <initializer_list>

#include "formats/folder.h"

namespace reweave {

// From here on this thread and those that it starts create, change, remove and execute no files, but for files in
// `writable`; they open no TCP connections and send no signals outwards. What is open stays usable. Where
// DEBUGINFOD_URLS asks libdw to fetch debug information, `may_fetch` leaves it the network and its cache. Does nothing
// where the kernel has no Landlock (5.13).
void give_up_writing(std::initializer_list<const Folder*> writable = {}, bool may_fetch = false);

}  // namespace reweave
