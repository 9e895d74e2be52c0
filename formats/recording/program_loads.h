// Finds the programs that a run executes among its records.
#pragma once

#include <cstdint>
#include <set>

#include "formats/wire.h"

namespace reweave {

class ProgramLoads {
 public:
  // Takes the next record of the run. Returns it if it is the file of a program that its thread executes, else null.
  const wire::MapFileRecord* find(const wire::RecordHeader* record);

 private:
  std::set<std::uint16_t> executing_;  // threads whose program has not been loaded yet
};

}  // namespace reweave
