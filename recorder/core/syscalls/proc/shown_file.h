// Files of /proc that the program is shown otherwise than the kernel has them: copies, edited line by line.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// A line with its end. An editor may change it within its room, or drop it: length 0.
struct ShownLine {
  char text[4500];  // a path and what is before it; the supplementary groups of a status
  std::size_t length;
};

// Recording: a descriptor of a copy of `path`, opened with `flags`, of which `edit` has seen each line in order; or
// what open(2) answers.
long open_edited(const char* path, long flags, void (*edit)(ShownLine& line, void* context), void* context);

// The same for what such a descriptor shows, which is from when it was opened: it gets what `path` holds now.
void refresh_edited(long fd, const char* path, void (*edit)(ShownLine& line, void* context), void* context);

}  // namespace reweave::core
