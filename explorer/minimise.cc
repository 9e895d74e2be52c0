#include "explorer/minimise.h"

#include <algorithm>
#include <cstring>

namespace reweave {

namespace {

template <typename Visit>
void for_each_switch(const RunResult& run, Visit visit) {
  for (std::size_t at = 0; at + sizeof(wire::RecordHeader) <= run.records.size();) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(run.records.data() + at);
    if (record->bytes < sizeof *record) return;
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSwitch))
      visit(*reinterpret_cast<const wire::SwitchRecord*>(record));
    at += record->bytes;
  }
}

RunRequest request_of(const std::vector<ScheduleStep>& steps) {
  RunRequest request;
  request.policy = "schedule";
  request.goal.resize(steps.size() * sizeof(ScheduleStep));
  std::memcpy(request.goal.data(), steps.data(), request.goal.size());
  return request;
}

// One search: holds the best list so far and what is left of the budget.
class Minimiser {
 public:
  Minimiser(ForkServer& server, const RunResult& failing, std::uint64_t budget)
      : server_(server), failing_(failing), best_(failing), left_(budget) {}

  RunResult search() {
    std::vector<ScheduleStep> steps = switches_of(failing_);
    if (!try_list(steps)) return best_;
    std::size_t parts = 2;
    while (steps.size() >= 1 && left_ > 0) {
      parts = std::min(parts, steps.size());
      if (remove_a_part(steps, parts)) {
        parts = std::max<std::size_t>(parts - 1, 2);
        continue;
      }
      if (parts == steps.size()) break;
      parts = std::min(parts * 2, steps.size());
    }
    return best_;
  }

 private:
  bool remove_a_part(std::vector<ScheduleStep>& steps, std::size_t parts) {
    const std::size_t size = (steps.size() + parts - 1) / parts;
    for (std::size_t begin = 0; begin < steps.size() && left_ > 0; begin += size) {
      std::vector<ScheduleStep> rest(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(begin));
      const std::size_t end = std::min(begin + size, steps.size());
      rest.insert(rest.end(), steps.begin() + static_cast<std::ptrdiff_t>(end), steps.end());
      if (!try_list(rest)) continue;
      steps = std::move(rest);
      return true;
    }
    return false;
  }

  bool try_list(const std::vector<ScheduleStep>& steps) {
    if (left_ == 0) return false;
    left_--;
    RunResult run = server_.run(request_of(steps));
    if (!same_failure(run, failing_)) return false;
    if (preemptions_of(run) <= preemptions_of(best_)) best_ = std::move(run);
    return true;
  }

  ForkServer& server_;
  const RunResult& failing_;
  RunResult best_;
  std::uint64_t left_;
};

}  // namespace

std::vector<ScheduleStep> switches_of(const RunResult& run) {
  std::vector<ScheduleStep> steps;
  for_each_switch(run, [&](const wire::SwitchRecord& record) {
    steps.push_back({record.tick, record.header.thread, record.to});
  });
  return steps;
}

std::uint64_t preemptions_of(const RunResult& run) {
  std::uint64_t count = 0;
  for_each_switch(run, [&](const wire::SwitchRecord& record) {
    count += record.reason == static_cast<std::uint8_t>(wire::SwitchReason::kPreempted) ? 1 : 0;
  });
  return count;
}

RunResult minimise(ForkServer& server, const RunResult& failing, std::uint64_t budget) {
  return Minimiser(server, failing, budget).search();
}

}  // namespace reweave
