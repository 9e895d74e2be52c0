// Files of /proc of which the program gets copies, edited line by line.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// A line including its newline. An editor may change it within its room, or drop it by setting length to 0.
struct ShownLine {
  char text[4500];  // room for a path and what precedes it, or the supplementary groups in a status
  std::size_t length;
};

// Recording: makes a copy of `path`, passing each line to `edit` in order. Returns a descriptor of the copy, opened
// with `flags`, or the error of open(2).
long open_edited(const char* path, long flags, void (*edit)(ShownLine& line, void* context), void* context);

// Updates the copy behind such a descriptor to the present contents of `path`.
void refresh_edited(long fd, const char* path, void (*edit)(ShownLine& line, void* context), void* context);

}  // namespace reweave::core
