#include "explorer/campaign/failures.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "explorer/campaign/failure_store.h"
#include "explorer/explain/context.h"
#include "explorer/explain/explain.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_check.h"
#include "explorer/run/race_check.h"
#include "explorer/run/switches.h"
#include "explorer/words/memory_stacks.h"
#include "explorer/words/story.h"
#include "explorer/words/wording.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/json_text.h"
#include "formats/base/terminal.h"
#include "replayer/saved_moment.h"

namespace reweave {

namespace {

// Saves the explanation for `explore --expect-fixed`, and notes what it says of the failure and its cause.
void save_explanation(KeptFailure& failure, Explanation& explanation, Places& places) {
  explanation.last_words = failure.last_words;
  const nlohmann::json report = json_report(explanation, places);
  if (const std::optional<std::string> wrong = check_report(report)) {
    notice("internal error: {} is kept without its cause, because its explanation contradicts its own figures: {}",
           failure.path, *wrong);
    return;
  }
  Folder::open(failure.path).replace_file(kExplanationFile, json_text(report) + "\n");
  failure.what = report.at("failure").get<std::string>();
  failure.cause = report.at("cause").get<std::string>();
}

// True if the runs ended alike. For memory errors only the outcome is compared, because the schedule decides whether a
// read, a write or another release comes first. The same goes for deadlocks, whose text names each waiting thread. The
// failure keys compare the places.
bool same_end(const RunResult& a, const RunResult& b) {
  const bool by_key = a.outcome == wire::OutcomeKind::kMemoryError || a.outcome == wire::OutcomeKind::kDeadlock;
  return by_key ? a.outcome == b.outcome : same_failure(a, b);
}

}  // namespace

void write_story(const std::string& folder, const KeptFailure& failure) {
  std::string text;
  for (const std::string& part : {failure.cause, failure.story, failure.ending, failure.stacks})
    text += part.empty() ? "" : part + "\n";
  if (!text.empty()) Folder::open(folder).replace_file("story.txt", text);
}

void Failures::note(const RunResult& run, const RunRequest& request, const std::string& how, std::uint64_t number,
                    std::uint64_t step_limit) {
  const bool slow = run.outcome == wire::OutcomeKind::kHang || options_.stop_at_first || !run.races.empty();
  const unsigned samples = slow ? 1 : 4;
  const bool complete = !run.observed.empty() && request.quiet == nullptr;
  if (!complete && is_known(run, failure_site(run, places_), samples, request.stands_for)) return;
  const RunResult seen = complete ? run : observed(run, step_limit);
  const std::uint64_t site = failure_site(seen, places_);
  if (is_known(run, site, samples, request.stands_for)) return;
  if (says_it_all(seen) && !seen.observed.empty() && is_found(seen, request.stands_for)) return;
  found_.push_back({seen, site, request, how, number, request.stands_for});
}

std::uint64_t Failures::different_ends() const {
  std::set<std::pair<std::string, std::uint64_t>> kinds;
  for (const Found& found : found_) kinds.insert({describe_outcome(found.run), found.site});
  return kinds.size();
}

// True if `samples` runs that ended like this one were found before. Then this run, which represents `count` runs, only
// adds to their count.
bool Failures::is_known(const RunResult& run, std::uint64_t site, unsigned samples, std::uint64_t count) {
  const auto alike = [&](const Found& found) { return found.site == site && same_failure(found.run, run); };
  if (std::count_if(found_.begin(), found_.end(), alike) < samples) return false;
  count_again(*std::find_if(found_.begin(), found_.end(), alike), count);
  return true;
}

void Failures::count_again(Found& found, std::uint64_t count) {
  found.count += count;
  if (found.kept) kept_[*found.kept].count += count;
}

// True if a run with the same bug was found before, judged without minimising either. Then this run only adds to its
// count.
bool Failures::is_found(const RunResult& run, std::uint64_t count) {
  const FailureKey key = key_of(run, places_);
  const auto found = std::find_if(found_.begin(), found_.end(), [&](const Found& other) {
    return same_end(other.run, run) && same_bug(key_of(other.run, places_), key);
  });
  if (found == found_.end()) return false;
  count_again(*found, count);
  return true;
}

std::vector<FoundFailure> Failures::found() const {
  std::vector<FoundFailure> list;
  for (const Found& found : found_) {
    FoundFailure failure;
    failure.end.outcome = found.run.outcome;
    failure.end.wait_status = found.run.wait_status;
    failure.end.text = found.run.text;
    failure.end.races = found.run.races;
    failure.site = found.site;
    failure.switches = switches_of(found.run);
    failure.how = found.how;
    failure.number = found.number;
    failure.count = found.count;
    list.push_back(std::move(failure));
  }
  return list;
}

RunResult Failures::observed(const RunResult& run, std::uint64_t step_limit) const {
  RunRequest again = request_of(switches_of(run));
  if (again.goal.size() > kGoalBytes) return run;
  again.observe = true;
  again.step_limit = step_limit;
  RunResult seen = run_(again);
  tell_same_race(seen, run);
  return same_failure(seen, run) ? seen : run;
}

// Long runs, such as hangs, are repeated less often.
std::uint64_t Failures::minimise_budget(const RunResult& run) const {
  constexpr std::uint64_t kMostSteps = 20'000'000, kFewest = 60;
  const std::uint64_t affordable = std::max(kFewest, kMostSteps / std::max<std::uint64_t>(run.steps, 1));
  return std::min(options_.minimise_runs, affordable);
}

void Failures::keep(const Departure& departure) {
  for (Found& found : found_)
    if (!found.kept) found.kept = keep_minimal(found, departure);
}

// Minimises a failure and keeps it, unless the same bug is kept already. Returns the index of the kept failure.
std::size_t Failures::keep_minimal(const Found& found, const Departure& departure) {
  const auto same = [this](const auto& a, const auto& b) {
    return same_failure(a, b) && failure_site(a, places_) == failure_site(b, places_);
  };
  const bool can_be_told = request_of(switches_of(found.run)).goal.size() <= kGoalBytes;
  const Runner run_again = [&](const RunRequest& request) {
    RunResult again = run_(request);
    tell_same_race(again, found.run);
    return again;
  };
  const Minimised smallest =
      can_be_told ? minimise(run_again, found.run, minimise_budget(found.run), same) : Minimised{found.run, false};
  const Known known = {found.run, key_of(smallest.run, places_), kept_.size()};
  for (const Known& other : known_)
    if (same_end(other.run, known.run) && same_bug(other.key, known.key)) {
      kept_[other.kept].count += found.count;
      return other.kept;
    }
  known_.push_back(known);
  store(smallest, found, departure);
  return known.kept;
}

// The short form of `explain`, if runs are short enough.
std::optional<Explanation> Failures::explanation_of(const RunResult& run) const {
  constexpr std::uint64_t kMostSteps = 20'000'000, kRuns = 600;
  const bool left = run.outcome == wire::OutcomeKind::kLeftRecording;  // other runs that leave show nothing
  if (left || run.observed.empty() || options_.minimise_runs == 0 || run.steps * kRuns > kMostSteps) return {};
  const Batch batch = [this](const std::vector<RunRequest>& requests) {
    std::vector<RunResult> runs;
    for (const RunRequest& request : requests) {
      runs.push_back(run_(request));
      if (runs.back().called_off) break;
    }
    return runs;
  };
  return explain(batch, run, ExplainOptions::short_form());
}

void Failures::store(const Minimised& smallest, const Found& found, const Departure& departure) {
  const RunResult& run = smallest.run;
  KeptFailure kept;
  kept.count = found.count;
  kept.minimal = smallest.complete;
  kept.path = (std::filesystem::path(options_.output) / fmt::format("{}-{}", name_, kept_.size() + 1)).string();
  kept.what = readable_outcome(describe_outcome(run), places_);
  kept.found_at = found.number;
  kept.preemptions = preemptions_of(run);
  kept.how = found.how;
  kept.functions = functions_of(known_.back().key, failure_site(run, places_), places_);
  kept.story = tell_story(run, places_);
  kept.ending = tell_ending(run, places_);
  save_run(options_.recording, departure, run, found.request.policy, kept.path, options_.parent);
  write_story(kept.path, kept);  // now, because there may be no time for the rest
  kept_runs_.push_back(run);
  explanations_.push_back(explanation_of(run));
  kept_.push_back(kept);
}

std::vector<KeptFailure> Failures::verify(const std::function<bool()>& time_is_up) {
  for (std::size_t i = 0; i < kept_.size(); i++) {
    KeptFailure& failure = kept_[i];
    while (failure.replays < options_.verifications && (failure.replays == 0 || !time_is_up())) {
      failure.replays++;
      failure.verified += replays_alike(failure.path, kept_runs_[i], expected_, options_.check) ? 1 : 0;
    }
    if (failure.verified == 0) continue;
    failure.last_words = last_words_of(failure.path);
    const std::string block = tell_stacks(failure, kept_runs_[i]);
    if (std::optional<Explanation>& explanation = explanations_[i]) {
      if (!time_is_up()) add_contexts(*explanation, failure.path);
      explanation->block = block;
      save_explanation(failure, *explanation, places_);
    }
    if (!failure.last_words.empty()) failure.ending.clear();
    write_story(failure.path, failure);
  }
  name_by_reproduction();
  return kept_;
}

// Renames the recordings: those that replay the same way every time get the name of this object and a number from 1,
// the others unreproduced-1, ...
void Failures::name_by_reproduction() {
  std::size_t failures = 0, others = 0;
  for (KeptFailure& failure : kept_) {
    const std::string name =
        failure.reproduced() ? fmt::format("{}-{}", name_, ++failures) : fmt::format("unreproduced-{}", ++others);
    const std::string path = (std::filesystem::path(options_.output) / name).string();
    if (path != failure.path) std::filesystem::rename(failure.path, path);
    failure.path = path;
  }
}

std::string Failures::tell_stacks(KeptFailure& failure, const RunResult& run) const {
  if (!run.races.empty()) {
    failure.stacks = race_of_recording(failure.path, run.text).report;
    return "";
  }
  if (run.outcome != wire::OutcomeKind::kMemoryError) return "";
  const std::optional<MemoryError> error = memory_error_of(run.text);
  CHECK(error);
  const MemoryStacks stacks = stacks_of_recording(failure.path, *error);
  failure.stacks = describe_stacks(*error, stacks, places_, options_.all_frames);
  const std::string block = block_text(stacks, places_);
  if (!block.empty()) failure.what = readable_outcome(describe_outcome(run), places_, {{error->address, block}});
  return block;
}

}  // namespace reweave
