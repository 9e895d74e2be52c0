#include "explorer/campaign.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "explorer/failure_key.h"
#include "explorer/failure_store.h"
#include "explorer/memory_stacks.h"
#include "explorer/minimise.h"
#include "explorer/places.h"
#include "explorer/searches/search.h"
#include "explorer/story.h"
#include "explorer/strategies/goals.h"
#include "explorer/switches.h"
#include "explorer/witness.h"
#include "explorer/workers.h"
#include "formats/error.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostLinearizations = 4;  // of a witness, that are tried

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<bool(const CampaignProgress&)>& on_progress)
      : options_(options),
        on_progress_(on_progress),
        places_(options.recording),
        workers_(std::make_unique<Workers>(
            options.recording, options.fork_at.empty() ? 0 : places_.address_of(options.fork_at), options.jobs)),
        start_(Clock::now()) {
    REQUIRE(!fs::exists(options.output), "{} exists already; choose another folder for the failures", options.output);
    fs::create_directories(options.output);
  }

  CampaignResult run() {
    length_ = std::max<std::uint64_t>(workers_->departure().recorded_steps, 16);
    confirm_candidates();
    search();
    for (const Found& found : found_) keep_minimal(found);
    verify();
    result_.left_for.assign(left_for_.begin(), left_for_.end());
    std::ranges::stable_sort(result_.left_for, std::greater<>(), &std::pair<std::string, std::uint64_t>::second);
    return std::move(result_);
  }

 private:
  bool time_is_up() const {
    return options_.seconds > 0 && std::chrono::duration<double>(Clock::now() - start_).count() > options_.seconds;
  }
  bool enough() const { return stopped_ || time_is_up() || (options_.stop_at_first && !found_.empty()); }

  RunResult one_run(const RunRequest& request) {
    RunResult run = judged(workers_->run(request));
    count(request, run);
    return run;
  }

  // What a run writes is known only by replaying it; so a check costs a replay for each run that passes.
  RunResult judged(RunResult run) const {
    if (options_.check.empty() || run.outcome != wire::OutcomeKind::kPassed) return run;
    const std::string path = (fs::path(options_.output) / "run-to-check").string();
    save_run(options_.recording, workers_->departure(), run, options_.strategy, path);
    if (!output_passes(path, options_.check)) {
      run.outcome = wire::OutcomeKind::kCheckFailed;
      run.text = "the check failed: " + options_.check;
    }
    fs::remove_all(path);
    return run;
  }

  void count(const RunRequest& request, const RunResult& run) {
    CampaignProgress& progress = result_.progress;
    progress.runs++;
    progress.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    progress.quiet_runs += request.quiet != nullptr ? 1 : 0;
    (request.quiet != nullptr ? progress.quiet_seconds : progress.full_seconds) += run.seconds;
    if (run.outcome == wire::OutcomeKind::kLeftRecording) {
      progress.left_recording++;
      left_for_[run.text]++;
    }
    if (request.observe) knowledge_.learn(run.observed);
    REQUIRE(run.outcome != wire::OutcomeKind::kUnsupported && run.outcome != wire::OutcomeKind::kDiverged,
            "an explored run stopped: {}", run.text);
    if (!on_progress_(progress)) stopped_ = true;
  }

  // In long runs only accesses that may be shared are schedule points, but for every fourth: what was never seen
  // shared may be so under another schedule.
  void silence(RunRequest& request) {
    constexpr std::uint64_t kProfileRuns = 4, kFull = 4;
    const std::uint64_t made = started_++;
    if (options_.every_access) {
      request.quiet = nullptr;
      return;
    }
    if (request.own_quiet || request.policy == "wedge" || made < kProfileRuns || made % kFull == 0) return;
    if (made % 64 == 5 || quiet_ == nullptr) quiet_ = knowledge_.quiet_sites();
    request.quiet = quiet_;
  }

  // Says how long runs are, and which variables are shared.
  void undisturbed_run() {
    RunRequest request = request_of({});
    request.observe = true;
    request.step_limit = step_limit();
    note(one_run(request), request, "an undisturbed run");
  }

  void confirm_candidates() {
    for (std::size_t i = 0; i < options_.candidates.candidates.size() && !enough(); i++) {
      const Candidate& candidate = options_.candidates.candidates[i];
      const CandidateVerdict verdict = confirm(i, candidate);
      if (!verdict.failed) add_pairs(candidate);
      result_.verdicts.push_back(verdict);
    }
  }

  // Along the witness; as long as the run leaves it and passes, along another linearization of it.
  CandidateVerdict confirm(std::size_t index, const Candidate& candidate) {
    const auto beginning = beginning_of(candidate, needs_beginning(candidate) ? recorded_order() : Observation());
    if (!beginning) return {index, false, "its witness lacks its beginning", "was not made", false};
    CandidateVerdict verdict = {index, false, "", "", false};
    std::vector<WitnessOrder> orders = {candidate.witness};
    for (std::size_t i = 0; i < orders.size() && !enough(); i++) {
      RunRequest request = witness_request(*beginning, orders[i]);
      if (request.goal.size() > kGoalBytes) return {index, false, "its witness is too long", "was not made", false};
      request.step_limit = step_limit();
      const RunResult run = one_run(request);
      note(run, request, fmt::format("candidate {} ({})", index + 1, name_of(candidate.kind)));
      verdict.followed = was_followed(run, orders[i]);
      verdict.failed = run.failed();
      verdict.outcome = describe_outcome(run);
      if (i == 0 && !verdict.followed)
        verdict.how =
            fmt::format("its witness could not be followed to the end ({})", tell_departure(run, orders[i], places_));
      if (verdict.followed)
        verdict.how += i == 0 ? "its witness was followed to the end" : "; another linearization of it was";
      if (verdict.followed || verdict.failed) break;
      if (i == 0) orders = linearizations(candidate.witness, kMostLinearizations);
    }
    return verdict;
  }

  // What the recorded run did from main on, seen by repeating it; empty if it was too long.
  const Observation& recorded_order() {
    if (recorded_) return *recorded_;
    RunResult recorded;
    recorded.records = records_behind(options_.recording, workers_->departure());
    RunRequest request = request_of(switches_of(recorded));
    request.observe = true;
    request.step_limit = step_limit();
    recorded_ = request.goal.size() <= kGoalBytes ? one_run(request).observed : Observation();
    return *recorded_;
  }

  // Neighbouring events of the candidate, in both orders, for the active tester.
  void add_pairs(const Candidate& candidate) {
    std::vector<std::uint64_t> places;
    for (const CandidateEvent& event : candidate.events)
      for (const WitnessStep& step : candidate.witness)
        if (step.index == event.index) places.push_back(step.pc);
    for (std::size_t i = 0; i + 1 < places.size(); i++) {
      unconfirmed_.push_back({places[i], places[i + 1]});
      unconfirmed_.push_back({places[i + 1], places[i]});
    }
  }

  void search() {
    if (options_.runs == 0) return;
    SearchOptions options;
    options.seed = options_.seed;
    options.depth = options_.depth;
    options.knowledge = &knowledge_;
    options.learned = options_.learned;
    options.pairs = unconfirmed_;
    const std::unique_ptr<Search> search = find_search(options_.strategy)->make(options);
    // auto begins with runs that teach as much.
    if (options_.strategy != "auto") undisturbed_run();
    std::uint64_t left = options_.runs;
    while (!enough()) {
      while (left > 0 && workers_->started() < workers_->capacity()) {
        std::optional<RunRequest> request = search->next();
        if (!request) break;
        request->step_limit = step_limit();
        silence(*request);
        workers_->start(*request);
        left--;
      }
      if (workers_->started() == 0) break;
      Workers::Done done = workers_->finish();
      const RunRequest& request = done.request;
      const RunResult run = judged(std::move(done.result));
      count(request, run);
      length_ = std::max(length_, run.outcome == wire::OutcomeKind::kHang ? length_ : run.steps);
      search->learn(request, run);
      note(run, request, fmt::format("{}, seed {}, {}", options_.strategy, options_.seed, request.policy));
    }
    result_.report = search->report();
  }

  // The workers are done with: replays are process trees of their own.
  void verify() {
    workers_.reset();
    for (std::size_t i = 0; i < kept_.size(); i++) {
      KeptFailure& failure = result_.failures[i];
      failure.verified = verify_recording(failure.path, kept_[i], options_.verifications, options_.check);
      if (options_.verifications > 0) failure.last_words = last_words_of(failure.path);
      if (options_.verifications > 0) tell_stacks(failure, kept_[i]);
    }
  }

  // Whoever does not want a failure replayed gets no stacks.
  void tell_stacks(KeptFailure& failure, const RunResult& run) {
    if (run.outcome != wire::OutcomeKind::kMemoryError) return;
    const std::optional<MemoryError> error = memory_error_of(run.text);
    CHECK(error);
    failure.stacks = tell_memory_error(failure.path, *error, places_);
    std::ofstream(failure.path + "/story.txt", std::ios::app) << failure.stacks << "\n";
  }

  std::uint64_t step_limit() const { return std::max<std::uint64_t>(200'000, length_ * 100); }

  // A failing run to look at when the search is over.
  struct Found {
    RunResult run;  // observed if that is possible
    std::uint64_t site;
    RunRequest request;
    std::string how;
    std::uint64_t number;  // of the run
  };

  // Takes note of a failure. Of those that end alike a few are kept, for they may have different causes.
  void note(const RunResult& run, const RunRequest& request, const std::string& how) {
    if (!run.failed()) return;
    const bool slow = run.outcome == wire::OutcomeKind::kHang || options_.stop_at_first;
    const unsigned samples = slow ? 1 : 4;
    const bool complete = !run.observed.empty() && request.quiet == nullptr;
    if (!complete && is_known(run, failure_site(run, places_), samples)) return;
    const RunResult seen = complete ? run : observed(run);
    const std::uint64_t site = failure_site(seen, places_);
    if (is_known(run, site, samples) || (says_it_all(seen) && !seen.observed.empty() && is_found(seen))) return;
    found_.push_back({seen, site, request, how, result_.progress.runs});
    std::set<std::pair<std::string, std::uint64_t>> kinds;
    for (const Found& found : found_) kinds.insert({describe_outcome(found.run), found.site});
    result_.progress.failures = kinds.size();
  }

  bool is_known(const RunResult& run, std::uint64_t site, unsigned samples) const {
    return std::count_if(found_.begin(), found_.end(), [&](const Found& found) {
             return found.site == site && same_failure(found.run, run);
           }) >= samples;
  }

  // A run was found that shows the same bug as this one, by what is known of both without making them minimal.
  bool is_found(const RunResult& run) {
    const FailureKey key = key_of(run, places_);
    return std::any_of(found_.begin(), found_.end(), [&](const Found& found) {
      return same_failure(found.run, run) && same_bug(key_of(found.run, places_), key);
    });
  }

  // Keeps a failure, made minimal, unless that gives one that is there already.
  void keep_minimal(const Found& found) {
    const auto same = [this](const auto& a, const auto& b) {
      return same_failure(a, b) && failure_site(a, places_) == failure_site(b, places_);
    };
    const bool can_be_told = request_of(switches_of(found.run)).goal.size() <= kGoalBytes;
    const RunResult smallest =
        can_be_told ? minimise(runner(), found.run, minimise_budget(found.run), same) : found.run;
    const Known known = {found.run, key_of(smallest, places_)};
    for (const Known& other : known_)
      if (same_failure(other.run, known.run) && same_bug(other.key, known.key)) return;
    known_.push_back(known);
    keep(smallest, found);
  }

  // The same run again, observed at every access; itself if its switches do not make it again, or are too many.
  RunResult observed(const RunResult& run) {
    RunRequest again = request_of(switches_of(run));
    if (again.goal.size() > kGoalBytes) return run;
    again.observe = true;
    again.step_limit = step_limit();
    RunResult seen = judged(workers_->run(again));
    return same_failure(seen, run) ? seen : run;
  }

  // Long runs, such as hangs, are made fewer times.
  std::uint64_t minimise_budget(const RunResult& run) const {
    constexpr std::uint64_t kMostSteps = 2'000'000, kFewest = 60;
    const std::uint64_t affordable = std::max(kFewest, kMostSteps / std::max<std::uint64_t>(run.steps, 1));
    return std::min(options_.minimise_runs, affordable);
  }

  Runner runner() {
    return [this](const RunRequest& request) {
      result_.minimising_runs++;
      return judged(workers_->run(request));
    };
  }

  void keep(const RunResult& run, const Found& found) {
    KeptFailure kept;
    kept.path = (fs::path(options_.output) / fmt::format("failure-{}", result_.failures.size() + 1)).string();
    kept.what = describe_outcome(run);
    kept.found_at = found.number;
    kept.preemptions = preemptions_of(run);
    kept.how = found.how;
    kept.story = tell_story(run, places_);
    save_run(options_.recording, workers_->departure(), run, found.request.policy, kept.path);
    if (!kept.story.empty()) std::ofstream(kept.path + "/story.txt") << kept.story << "\n";
    kept_.push_back(run);
    result_.failures.push_back(kept);
  }

  const CampaignOptions& options_;
  const std::function<bool(const CampaignProgress&)>& on_progress_;
  Places places_;
  std::unique_ptr<Workers> workers_;
  Knowledge knowledge_;
  Clock::time_point start_;
  std::uint64_t length_ = 1000;
  bool stopped_ = false;
  std::optional<Observation> recorded_;
  std::vector<ActivePair> unconfirmed_;
  std::uint64_t started_ = 0;  // runs of the search
  std::shared_ptr<const QuietSites> quiet_;
  std::map<std::string, std::uint64_t> left_for_;
  std::vector<Found> found_;
  struct Known {
    RunResult run;  // as found
    FailureKey key;
  };
  std::vector<Known> known_;
  std::vector<RunResult> kept_;  // as kept, in the order of result_.failures
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<bool(const CampaignProgress&)>& on_progress) {
  return Campaign(options, on_progress).run();
}

}  // namespace reweave
