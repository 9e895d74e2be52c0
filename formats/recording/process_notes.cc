#include "formats/recording/process_notes.h"

#include "formats/recording/recorded_files.h"

namespace reweave {

ProcessNotes::ProcessNotes(std::vector<ProcessInfo>& processes) : processes_(processes) {
  for (std::size_t i = 0; i < processes.size(); i++) position_of_[processes[i].index] = i;
}

std::uint16_t ProcessNotes::process_of(std::uint16_t thread) const {
  const auto found = process_of_.find(thread);
  return found == process_of_.end() ? std::uint16_t{0} : found->second;
}

ProcessInfo* ProcessNotes::find(std::uint32_t index) {
  const auto position = position_of_.find(index);
  return position == position_of_.end() ? nullptr : &processes_[position->second];
}

void ProcessNotes::learn(const wire::RecordHeader* record) {
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSpawn)) return;
  const auto& spawn = wire::record_cast<wire::SpawnRecord>(*record);
  if (record->bytes >= sizeof spawn) process_of_[spawn.child] = spawn.process;
}

bool ProcessNotes::note(const wire::RecordHeader* record) {
  if (const wire::MapFileRecord* file = programs_.find(record)) return note_program(*file);
  switch (static_cast<wire::RecordKind>(record->kind)) {
    case wire::RecordKind::kSpawn:
      return note_spawn(wire::record_cast<wire::SpawnRecord>(*record));
    case wire::RecordKind::kProcessExit:
      return note_exit(wire::record_cast<wire::ProcessExitRecord>(*record));
    default:
      return false;
  }
}

bool ProcessNotes::note_spawn(const wire::SpawnRecord& spawn) {
  const auto kind = static_cast<wire::SpawnKind>(spawn.kind);
  process_of_[spawn.child] = spawn.process;
  if (kind == wire::SpawnKind::kThread || position_of_.contains(spawn.process)) return false;
  const bool is_first = kind == wire::SpawnKind::kFirst;
  ProcessInfo process;
  process.index = spawn.process;
  process.parent = is_first ? spawn.process : process_of(spawn.header.thread);
  process.pid = static_cast<std::int32_t>(spawn.tid);
  process.wait_status = kStillRuns;
  const ProcessInfo* parent = is_first ? nullptr : find(process.parent);
  if (parent != nullptr) process.program = parent->program;
  position_of_[process.index] = processes_.size();
  processes_.push_back(process);
  return true;
}

bool ProcessNotes::note_program(const wire::MapFileRecord& file) {
  ProcessInfo* process = find(process_of(file.header.thread));
  if (process != nullptr) process->program = mapped_path(file);
  return process != nullptr;
}

bool ProcessNotes::note_exit(const wire::ProcessExitRecord& end) {
  ProcessInfo* process = find(end.process);
  if (process != nullptr) process->wait_status = end.wait_status & 0xffff;
  return process != nullptr;
}

}  // namespace reweave
