// The records that an explored run has logged.
#pragma once

#include "explorer/run/run.h"

namespace reweave {

// Calls `visit` with each record of `run`, in order, until it returns false or a record is damaged.
template <typename Visit>
void visit_records(const RunResult& run, Visit visit) {
  for (std::size_t at = 0; run.records.size() - at >= sizeof(wire::RecordHeader);) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(run.records.data() + at);
    if (record->bytes < sizeof *record || record->bytes > run.records.size() - at || !visit(*record)) return;
    at += record->bytes;
  }
}

// `record` as one of that kind; null if it is of another kind, or too short.
template <typename Record>
const Record* as_record(const wire::RecordHeader& record) {
  const bool is_one = record.kind == static_cast<std::uint16_t>(Record::kKind) && record.bytes >= sizeof(Record);
  return is_one ? reinterpret_cast<const Record*>(&record) : nullptr;
}

}  // namespace reweave
