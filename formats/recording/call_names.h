// The names of files in the record of a system call.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/wire.h"

namespace reweave {

struct CallNames {
  wire::NamedFiles files;               // the file that the call opened; all zero if it opened none
  std::vector<std::string_view> names;  // in the order of the call's arguments; valid as long as the record
  std::size_t bytes = 0;                // of them all, after the record's fixed part
};

// Nothing if the record has no names or is damaged.
std::optional<CallNames> names_in(const wire::SyscallRecord& record);

}  // namespace reweave
