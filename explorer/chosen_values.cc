#include "explorer/chosen_values.h"

#include <cstring>

namespace reweave {

std::vector<ChosenValue> chosen_values(const RunResult& run) {
  std::vector<ChosenValue> values;
  wire::RecordHeader header;
  for (std::size_t at = 0; at + sizeof header <= run.records.size(); at += header.bytes) {
    std::memcpy(&header, run.records.data() + at, sizeof header);
    if (header.bytes < sizeof header) break;
    wire::InputRecord record;
    if (header.kind != static_cast<std::uint16_t>(record.kKind) || at + sizeof record > run.records.size()) continue;
    std::memcpy(&record, run.records.data() + at, sizeof record);
    if (record.source != static_cast<std::uint32_t>(wire::InputSource::kChosen)) continue;
    values.push_back({header.thread, record.values[0], record.values[1], record.values[2]});
  }
  return values;
}

}  // namespace reweave
