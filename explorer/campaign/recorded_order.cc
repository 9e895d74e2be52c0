#include "explorer/campaign/recorded_order.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "explorer/campaign/failure_key.h"
#include "explorer/campaign/failure_store.h"
#include "explorer/run/switches.h"
#include "explorer/strategies/goals.h"
#include "formats/recording/recording_reader.h"

namespace reweave {

namespace {

// True if timing or other programs could explain the failure. False for faults and heap errors: they are always bugs of
// the program, and the recorded run may have had the same error without crashing.
bool depends_on_surroundings(const RunResult& run) {
  switch (run.outcome) {
    case wire::OutcomeKind::kExitStatus:
    case wire::OutcomeKind::kDeadlock:
    case wire::OutcomeKind::kHang:
      return true;
    case wire::OutcomeKind::kSignalled: {
      const int signal = WTERMSIG(run.wait_status);
      return signal != SIGSEGV && signal != SIGBUS && signal != SIGILL && signal != SIGFPE;
    }
    default:
      return false;
  }
}

// True if the switches of `run` are the first ones of `order`.
bool begins_with(const SwitchList& order, const SwitchList& run) {
  const auto first = [](const auto& of, const auto& those) {
    return those.size() <= of.size() && std::equal(those.begin(), those.end(), of.begin());
  };
  return first(order.preemptions, run.preemptions) && first(order.free, run.free);
}

}  // namespace

const RecordedOrder::Repetition& RecordedOrder::repetition(const Means& means) {
  if (repetition_) return *repetition_;
  repetition_.emplace();
  RunResult recorded;
  recorded.records = records_behind(recording_, means.departure);
  const SwitchList order = switches_of(recorded);
  RunRequest request = request_of(order);
  request.observe = true;
  request.step_limit = means.step_limit;
  if (request.goal.size() > kGoalBytes) return *repetition_;
  repetition_->run = means.make(request);
  // In a tree of processes, each one makes switches of its own when it begins and ends, whose order may differ from the
  // recorded one. So the switches are not compared.
  const bool is_tree = RecordingReader(recording_).manifest().processes.size() > 1;
  repetition_->unfaithful =
      depends_on_surroundings(repetition_->run) && (is_tree || begins_with(order, switches_of(repetition_->run)));
  return *repetition_;
}

bool RecordedOrder::explains(const RunResult& run, const RunRequest& request, const Means& means) {
  if (!recorded_passed_ || !depends_on_surroundings(run) || !repetition(means).unfaithful) return false;
  const RunResult& repeated = repetition(means).run;
  if (!same_failure(run, repeated)) return false;
  const RunResult seen = request.quiet == nullptr ? run : means.observed(run);
  return failure_site(seen, places_) == failure_site(repeated, places_);
}

}  // namespace reweave
