#include "explorer/campaign/one_schedule.h"

#include "explorer/run/chosen_values.h"
#include "explorer/run/run_records.h"
#include "formats/recording/recording_reader.h"

namespace reweave {

namespace {

bool is_spawn(const wire::RecordHeader& record) { return as_record<wire::SpawnRecord>(record) != nullptr; }

bool starts_nothing(const RunResult& run) {
  bool starts = false;
  visit_records(run, [&](const wire::RecordHeader& record) { return !(starts = is_spawn(record)); });
  return !starts;
}

// The number of threads and processes that the recorded run started before the departure.
std::uint64_t started_before(const std::string& recording, const Departure& departure) {
  RecordingReader reader(recording);
  std::uint64_t started = 0;
  for (std::uint64_t i = 0; i < departure.prefix_records; i++) {
    const wire::RecordHeader* record = reader.next();
    if (record == nullptr) break;
    started += is_spawn(*record) ? 1 : 0;
  }
  return started;
}

}  // namespace

bool has_one_schedule(const std::string& recording, const Departure& departure, const RunResult& run) {
  const bool is_whole = run.outcome != wire::OutcomeKind::kLeftRecording && !run.called_off &&
                        run.outcome != wire::OutcomeKind::kUnsupported && run.outcome != wire::OutcomeKind::kDiverged;
  return is_whole && starts_nothing(run) && chosen_values(run).empty() && started_before(recording, departure) == 1;
}

}  // namespace reweave
