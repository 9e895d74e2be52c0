#include "explorer/run/chosen_values.h"

#include "explorer/run/run_records.h"

namespace reweave {

std::vector<ChosenValue> chosen_values(const RunResult& run) {
  std::vector<ChosenValue> values;
  visit_records(run, [&](const wire::RecordHeader& header) {
    const auto* record = as_record<wire::InputRecord>(header);
    if (record != nullptr && record->source == static_cast<std::uint32_t>(wire::InputSource::kChosen))
      values.push_back({header.thread, record->values[0], record->values[1], record->values[2]});
    return true;
  });
  return values;
}

}  // namespace reweave
