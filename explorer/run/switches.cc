#include "explorer/run/switches.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "explorer/run/chosen_values.h"
#include "explorer/run/run_records.h"

namespace reweave {

SwitchList switches_of(const RunResult& run) {
  SwitchList list;
  visit_records(run, [&](const wire::RecordHeader& header) {
    const auto* record = as_record<wire::SwitchRecord>(header);
    if (record == nullptr) return true;
    if (run.fair_from != 0 && record->step >= run.fair_from) return false;
    const bool preempted = record->reason == static_cast<std::uint8_t>(wire::SwitchReason::kPreempted);
    const ScheduleStep step = {record->tick, header.thread, record->to, static_cast<std::uint16_t>(preempted ? 0 : 1),
                               0};
    (preempted ? list.preemptions : list.free).push_back(step);
    return true;
  });
  if (const std::vector<ChosenValue> chosen = chosen_values(run); !chosen.empty()) list.inputs = chosen.front().inputs;
  return list;
}

std::uint64_t preemptions_of(const RunResult& run) { return switches_of(run).preemptions.size(); }

RunRequest request_of(const SwitchList& list) {
  std::vector<ScheduleStep> steps = list.preemptions;
  steps.insert(steps.end(), list.free.begin(), list.free.end());
  std::stable_sort(steps.begin(), steps.end(), [](const ScheduleStep& a, const ScheduleStep& b) {
    return std::tie(a.thread, a.tick, a.free) < std::tie(b.thread, b.tick, b.free);
  });
  RunRequest request;
  request.policy = "schedule";
  request.inputs = list.inputs;
  request.goal.resize(steps.size() * sizeof(ScheduleStep));
  if (!steps.empty()) std::memcpy(request.goal.data(), steps.data(), request.goal.size());
  return request;
}

}  // namespace reweave
