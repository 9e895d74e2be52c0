#include "formats/recording/program_loads.h"

namespace reweave {

// The loader opens a script, then its program, then the program's interpreter.
const wire::MapFileRecord* ProgramLoads::find(const wire::RecordHeader* record) {
  if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kExec)) executing_.insert(record->thread);
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) return nullptr;
  const auto& file = wire::record_cast<wire::MapFileRecord>(*record);
  const bool is_script = (file.flags & wire::kMapStandIn) != 0;
  return file.address == 0 && !is_script && executing_.erase(record->thread) != 0 ? &file : nullptr;
}

}  // namespace reweave
