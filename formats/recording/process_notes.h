// The list of a run's processes, made from its records.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "formats/recording/manifest.h"
#include "formats/recording/program_loads.h"
#include "formats/wire.h"

namespace reweave {

class ProcessNotes {
 public:
  // `processes` is the list to be completed: empty, or made from the first part of the same records.
  explicit ProcessNotes(std::vector<ProcessInfo>& processes);

  // Takes the next record. Returns true if the list has changed.
  bool note(const wire::RecordHeader* record);
  // Only notes the process of a new thread, from a record with which the list was made.
  void learn(const wire::RecordHeader* record);
  // True once the record of the thread's start was seen.
  bool knows(std::uint16_t thread) const { return process_of_.contains(thread); }
  // The index of its process; 0 if it is not known.
  std::uint16_t process_of(std::uint16_t thread) const;

 private:
  bool note_spawn(const wire::SpawnRecord& spawn);
  bool note_program(const wire::MapFileRecord& file);
  bool note_exit(const wire::ProcessExitRecord& end);
  ProcessInfo* find(std::uint32_t index);

  std::vector<ProcessInfo>& processes_;
  std::map<std::uint16_t, std::uint16_t> process_of_;  // by thread
  std::map<std::uint32_t, std::size_t> position_of_;   // by the process's index
  ProgramLoads programs_;
};

}  // namespace reweave
