#include "explorer/campaign.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>

#include "explorer/expected_endings.h"
#include "explorer/failure_key.h"
#include "explorer/failure_store.h"
#include "explorer/failures.h"
#include "explorer/places.h"
#include "explorer/searches/search.h"
#include "explorer/strategies/goals.h"
#include "explorer/switches.h"
#include "explorer/witness.h"
#include "explorer/workers.h"
#include "formats/error.h"
#include "formats/folder.h"
#include "formats/recording_reader.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostLinearizations = 4;  // of a witness, that are tried
// Parts of the limit of time: the search ends after the first if it has found something, and what was found is made
// minimal until the second; the rest is for replays.
constexpr double kSearchShare = 0.7, kMinimiseShare = 0.9;
// If none of the first runs could be examined, the search ends: later ones would fare no better. The second limit is
// for runs that take long.
constexpr std::uint64_t kVainRuns = 20;
constexpr double kVainSeconds = 15;

// Faults and errors of the heap are the program's own: a recorded run may have had them without harm.
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

// The switches of `run` are the first of `order`.
bool begins_with(const SwitchList& order, const SwitchList& run) {
  const auto first = [](const auto& of, const auto& those) {
    return those.size() <= of.size() && std::equal(those.begin(), those.end(), of.begin());
  };
  return first(order.preemptions, run.preemptions) && first(order.free, run.free);
}

// With the folders that it is to lie in.
void make_output_folder(const std::string& path) {
  std::error_code ignored;  // the next line says what is wrong
  fs::create_directories(fs::path(path).parent_path(), ignored);
  Folder::create(path);
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<bool(const CampaignProgress&)>& on_progress)
      : options_(options),
        on_progress_(on_progress),
        expected_(expected_of(options)),
        recorded_passed_(passed(expected_, RecordingReader(options.recording).manifest())),
        places_(options.recording),
        workers_(std::make_unique<Workers>(options.recording,
                                           options.fork_at.empty() ? 0 : places_.address_of(options.fork_at),
                                           options.jobs, deadline_)),
        failures_(options_, expected_, places_, runner()) {
    make_output_folder(options.output);
  }

  CampaignResult run() {
    length_ = std::max<std::uint64_t>(workers_->departure().recorded_steps, 16);
    confirm_candidates();
    search();
    failures_.keep(workers_->departure());
    workers_.reset();  // replays are process trees of their own
    result_.failures = failures_.verify([this] { return time_is_up(); });
    result_.left_for = by_frequency(left_for_);
    result_.not_kept_for = by_frequency(not_kept_for_);
    result_.expected = expected_.text();
    result_.saw_accesses = knowledge_.saw_accesses();
    return std::move(result_);
  }

 private:
  static ExpectedEndings expected_of(const CampaignOptions& options) {
    return options.expected.empty() ? ExpectedEndings::of_recording(RecordingReader(options.recording).manifest())
                                    : ExpectedEndings::parse(options.expected);
  }
  static bool passed(const ExpectedEndings& expected, const Manifest& manifest) {
    RunResult recorded;
    recorded.outcome = manifest.outcome;
    recorded.wait_status = manifest.wait_status;
    expected.judge(recorded);
    return recorded.outcome == wire::OutcomeKind::kPassed;
  }
  static Reasons by_frequency(const std::map<std::string, std::uint64_t>& counts) {
    Reasons reasons(counts.begin(), counts.end());
    std::ranges::stable_sort(reasons, std::greater<>(), &Reasons::value_type::second);
    return reasons;
  }
  static Clock::time_point deadline_of(const CampaignOptions& options) {
    constexpr double kForEver = 1e9;
    if (options.seconds <= 0 || options.seconds > kForEver) return Clock::time_point::max();
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  }
  // This share of the limit of time is used up.
  bool is_used_up(double share) const {
    if (deadline_ == Clock::time_point::max()) return false;
    return Clock::now() > start_ + std::chrono::duration_cast<Clock::duration>((deadline_ - start_) * share);
  }
  bool time_is_up() const { return is_used_up(1); }
  bool enough() {
    result_.out_of_time = is_used_up(failures_.none() ? 1 : kSearchShare);
    const CampaignProgress& progress = result_.progress;
    result_.gave_up = progress.runs > 0 && progress.not_kept == progress.runs &&
                      (progress.runs >= kVainRuns || progress.seconds > kVainSeconds);
    return stopped_ || result_.out_of_time || result_.gave_up || (options_.stop_at_first && !failures_.none());
  }

  RunResult one_run(const RunRequest& request) {
    RunResult run = judged(workers_->run(request));
    count(request, run);
    return run;
  }

  // What a run writes is known only by replaying it; so a check costs a replay for each run that passes.
  RunResult judged(RunResult run) const {
    expected_.judge(run);
    if (options_.check.empty() || run.called_off || run.outcome != wire::OutcomeKind::kPassed) return run;
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
    if (run.called_off) return;
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
    if (run.outcome == wire::OutcomeKind::kUnsupported || run.outcome == wire::OutcomeKind::kDiverged) {
      progress.not_kept++;
      not_kept_for_[run.text]++;
    }
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
      verdict.failed = note(run, request, fmt::format("candidate {} ({})", index + 1, name_of(candidate.kind)));
      verdict.followed = was_followed(run, orders[i]);
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
  const Observation& recorded_order() { return repetition().run.observed; }

  // The order of the recorded run, repeated.
  struct Repetition {
    RunResult run;
    bool unfaithful = false;  // it failed, as far as it came in the recorded order
  };

  const Repetition& repetition() {
    if (repetition_) return *repetition_;
    repetition_.emplace();
    RunResult recorded;
    recorded.records = records_behind(options_.recording, workers_->departure());
    const SwitchList order = switches_of(recorded);
    RunRequest request = request_of(order);
    request.observe = true;
    request.step_limit = step_limit();
    if (request.goal.size() > kGoalBytes) return *repetition_;
    repetition_->run = one_run(request);
    repetition_->unfaithful =
        depends_on_surroundings(repetition_->run) && begins_with(order, switches_of(repetition_->run));
    result_.progress.unfaithful += repetition_->unfaithful ? 1 : 0;
    return *repetition_;
  }

  // The run fails because the recording cannot tell how its surroundings would have answered, whatever its schedule.
  bool is_unfaithful(const RunResult& run, const RunRequest& request) {
    if (!recorded_passed_ || !depends_on_surroundings(run) || !repetition().unfaithful) return false;
    const RunResult& repeated = repetition().run;
    if (!same_failure(run, repeated)) return false;
    const RunResult seen = request.quiet == nullptr ? run : failures_.observed(run, step_limit());
    return failure_site(seen, places_) == failure_site(repeated, places_);
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
      if (run.called_off) continue;
      if (run.fair_from == 0) length_ = std::max(length_, run.steps);
      search->learn(request, run);
      note(run, request, fmt::format("{}, seed {}, {}", options_.strategy, options_.seed, request.policy));
    }
    result_.report = search->report();
  }

  // A run that no fair schedule has ended yet may only be long. Until one has gone on for all of it, it is made once
  // more with ten times as many points.
  bool note_long(const RunResult& run, const RunRequest& request, const std::string& how) {
    constexpr std::uint64_t kPatience = 10;
    RunRequest longer = request;
    longer.fair_limit = longer.step_limit * kPatience;
    const RunResult again = one_run(longer);
    hang_confirmed_ = again.text == wire::kNeverEnds;
    if (hang_confirmed_) return note(run, request, how);
    length_ = std::max(length_, again.steps);
    return note(again, longer, how);
  }

  // True if the run is a failure of the program.
  bool note(const RunResult& run, const RunRequest& request, const std::string& how) {
    if (!run.failed()) return false;
    if (run.text == wire::kNeverEnds && !hang_confirmed_) return note_long(run, request, how);
    if (is_unfaithful(run, request)) {
      result_.progress.unfaithful++;
      result_.unfaithful_end = describe_outcome(run);
      return false;
    }
    failures_.note(run, request, how, result_.progress.runs, step_limit());
    result_.progress.failures = failures_.different_ends();
    return true;
  }

  // A run that goes on for so much longer than others hangs.
  std::uint64_t step_limit() const {
    constexpr std::uint64_t kLeast = 50'000, kMany = 1'000'000;
    return std::max({kLeast, std::min(length_ * 100, kMany), length_ * 4});
  }

  Runner runner() {
    return [this](const RunRequest& request) {
      if (is_used_up(kMinimiseShare)) {
        RunResult none;
        none.called_off = true;
        return none;
      }
      result_.minimising_runs++;
      return judged(workers_->run(request));
    };
  }

  const CampaignOptions& options_;
  const std::function<bool(const CampaignProgress&)>& on_progress_;
  const ExpectedEndings expected_;
  bool recorded_passed_;
  Places places_;
  const Clock::time_point start_ = Clock::now(), deadline_ = deadline_of(options_);
  std::unique_ptr<Workers> workers_;
  Knowledge knowledge_;
  std::uint64_t length_ = 1000;
  bool stopped_ = false;
  bool hang_confirmed_ = false;
  std::optional<Repetition> repetition_;
  std::vector<ActivePair> unconfirmed_;
  std::uint64_t started_ = 0;  // runs of the search
  std::shared_ptr<const QuietSites> quiet_;
  std::map<std::string, std::uint64_t> left_for_, not_kept_for_;
  Failures failures_;
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<bool(const CampaignProgress&)>& on_progress) {
  return Campaign(options, on_progress).run();
}

}  // namespace reweave
