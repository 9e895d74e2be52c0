#include "explorer/failures.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "explorer/failure_store.h"
#include "explorer/memory_stacks.h"
#include "explorer/story.h"
#include "explorer/switches.h"
#include "formats/error.h"

namespace reweave {

namespace {

// The runs ended alike. Uses of released memory do whatever the use is, a read, a write or another release: which of
// them comes first is up to the schedule. Where it happened is the key's to compare.
bool same_end(const RunResult& a, const RunResult& b) {
  const bool memory = a.outcome == wire::OutcomeKind::kMemoryError && b.outcome == a.outcome;
  return memory || same_failure(a, b);
}

}  // namespace

void Failures::note(const RunResult& run, const RunRequest& request, const std::string& how, std::uint64_t number,
                    std::uint64_t step_limit) {
  const bool slow = run.outcome == wire::OutcomeKind::kHang || options_.stop_at_first;
  const unsigned samples = slow ? 1 : 4;
  const bool complete = !run.observed.empty() && request.quiet == nullptr;
  if (!complete && is_known(run, failure_site(run, places_), samples)) return;
  const RunResult seen = complete ? run : observed(run, step_limit);
  const std::uint64_t site = failure_site(seen, places_);
  if (is_known(run, site, samples) || (says_it_all(seen) && !seen.observed.empty() && is_found(seen))) return;
  found_.push_back({seen, site, request, how, number});
}

std::uint64_t Failures::different_ends() const {
  std::set<std::pair<std::string, std::uint64_t>> kinds;
  for (const Found& found : found_) kinds.insert({describe_outcome(found.run), found.site});
  return kinds.size();
}

bool Failures::is_known(const RunResult& run, std::uint64_t site, unsigned samples) const {
  return std::count_if(found_.begin(), found_.end(), [&](const Found& found) {
           return found.site == site && same_failure(found.run, run);
         }) >= samples;
}

// A run was found that shows the same bug as this one, by what is known of both without making them minimal.
bool Failures::is_found(const RunResult& run) const {
  const FailureKey key = key_of(run, places_);
  return std::any_of(found_.begin(), found_.end(), [&](const Found& found) {
    return same_end(found.run, run) && same_bug(key_of(found.run, places_), key);
  });
}

RunResult Failures::observed(const RunResult& run, std::uint64_t step_limit) const {
  RunRequest again = request_of(switches_of(run));
  if (again.goal.size() > kGoalBytes) return run;
  again.observe = true;
  again.step_limit = step_limit;
  RunResult seen = run_(again);
  return same_failure(seen, run) ? seen : run;
}

// Long runs, such as hangs, are made fewer times.
std::uint64_t Failures::minimise_budget(const RunResult& run) const {
  constexpr std::uint64_t kMostSteps = 2'000'000, kFewest = 60;
  const std::uint64_t affordable = std::max(kFewest, kMostSteps / std::max<std::uint64_t>(run.steps, 1));
  return std::min(options_.minimise_runs, affordable);
}

void Failures::keep(const Departure& departure) {
  for (const Found& found : found_) keep_minimal(found, departure);
}

// Keeps a failure, made minimal, unless that gives one that is there already.
void Failures::keep_minimal(const Found& found, const Departure& departure) {
  const auto same = [this](const auto& a, const auto& b) {
    return same_failure(a, b) && failure_site(a, places_) == failure_site(b, places_);
  };
  const bool can_be_told = request_of(switches_of(found.run)).goal.size() <= kGoalBytes;
  const RunResult smallest = can_be_told ? minimise(run_, found.run, minimise_budget(found.run), same) : found.run;
  const Known known = {found.run, key_of(smallest, places_)};
  for (const Known& other : known_)
    if (same_end(other.run, known.run) && same_bug(other.key, known.key)) return;
  known_.push_back(known);
  store(smallest, found, departure);
}

void Failures::store(const RunResult& run, const Found& found, const Departure& departure) {
  KeptFailure kept;
  kept.path = (std::filesystem::path(options_.output) / fmt::format("failure-{}", kept_.size() + 1)).string();
  kept.what = describe_outcome(run);
  kept.found_at = found.number;
  kept.preemptions = preemptions_of(run);
  kept.how = found.how;
  kept.story = tell_story(run, places_);
  save_run(options_.recording, departure, run, found.request.policy, kept.path);
  if (!kept.story.empty()) std::ofstream(kept.path + "/story.txt") << kept.story << "\n";
  kept_runs_.push_back(run);
  kept_.push_back(kept);
}

std::vector<KeptFailure> Failures::verify() {
  for (std::size_t i = 0; i < kept_.size(); i++) {
    KeptFailure& failure = kept_[i];
    failure.verified = verify_recording(failure.path, kept_runs_[i], options_.verifications, options_.check);
    if (options_.verifications == 0) continue;
    failure.last_words = last_words_of(failure.path);
    tell_stacks(failure, kept_runs_[i]);
  }
  return kept_;
}

void Failures::tell_stacks(KeptFailure& failure, const RunResult& run) const {
  if (run.outcome != wire::OutcomeKind::kMemoryError) return;
  const std::optional<MemoryError> error = memory_error_of(run.text);
  CHECK(error);
  failure.stacks = tell_memory_error(failure.path, *error, places_);
  std::ofstream(failure.path + "/story.txt", std::ios::app) << failure.stacks << "\n";
}

}  // namespace reweave
