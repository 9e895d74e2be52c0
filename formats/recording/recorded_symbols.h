// Symbols of a recording's programs, from the copies in the recording where there are any.
#pragma once

#include <memory>
#include <utility>

#include "formats/elf/symbols.h"
#include "formats/recording/recorded_files.h"

namespace reweave {

inline SymbolFiles symbol_files(RecordedFiles files) {
  const auto shared = std::make_shared<const RecordedFiles>(std::move(files));
  return {[shared](const std::string& path) { return shared->open(path); },
          [shared](const std::string& build_id) { return shared->open_debug_file(build_id); }};
}

}  // namespace reweave
