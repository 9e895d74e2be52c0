#include "explorer/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "explorer/campaign/assumption.h"
#include "explorer/campaign/failure_store.h"
#include "explorer/campaign/failures.h"
#include "explorer/campaign/one_schedule.h"
#include "explorer/campaign/prediction.h"
#include "explorer/campaign/recorded_order.h"
#include "explorer/campaign/run_judge.h"
#include "explorer/campaign/unfinished.h"
#include "explorer/run/expected_endings.h"
#include "explorer/run/switches.h"
#include "explorer/run/workers.h"
#include "explorer/searches/predicted.h"
#include "explorer/searches/repeats.h"
#include "explorer/searches/search.h"
#include "explorer/strategies/goals.h"
#include "explorer/words/places.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/recording/recording_reader.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

// Shares of the time limit: the search ends after the first if it has found something, failures are minimised until the
// second, and the rest is for replays.
constexpr double kSearchShare = 0.7, kMinimiseShare = 0.9;
// Give up if none of the first runs could be examined: later ones would do no better. The second limit is for slow
// runs.
constexpr std::uint64_t kVainRuns = 20;
constexpr double kVainSeconds = 15;

// Creates missing parent folders too.
void make_output_folder(const std::string& path) {
  std::error_code ignored;  // the next line says what is wrong
  fs::create_directories(fs::path(path).parent_path(), ignored);
  Folder::create(path);
}

// Null if nothing is assumed.
std::shared_ptr<const HeldGoals> held_under(const std::vector<std::string>& assumptions, Places& places) {
  if (assumptions.empty()) return nullptr;
  HeldGoals held;
  CodeOperations operations(places);
  for (const std::string& text : assumptions) assume(code_of(parse_assumption(text), operations), held);
  return std::make_shared<const HeldGoals>(std::move(held));
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<bool(const CampaignProgress&)>& on_progress)
      : options_(options),
        on_progress_(on_progress),
        expected_(expected_of(options)),
        places_(options.recording),
        recorded_order_(options.recording, passed(expected_, RecordingReader(options.recording).manifest()), places_),
        workers_(std::make_unique<Workers>(options.recording,
                                           options.fork_at.empty() ? 0 : places_.address_of(options.fork_at),
                                           options.jobs, deadline_)),
        held_(held_under(options.assumptions, places_)),
        judge_(options_, expected_, held_),
        failures_("failure", options_, expected_, places_, runner()),
        unfinished_(places_),
        suspected_("suspected", options_, expected_, places_, runner()) {
    make_output_folder(options.output);
    if (options.known != nullptr) knowledge_.add(*options.known);
  }

  CampaignResult run() {
    length_ = std::max<std::uint64_t>(workers_->departure().recorded_steps, 16);
    if (workers_->departure().has_sleds) measure();
    is_short_ = length_ <= kShort;
    confirm_candidates();
    make_given();
    search();
    if (options_.keeps) keep();
    if (!options_.keeps) hand_over();
    result_.knowledge = knowledge_.record();
    result_.left_for = by_frequency(left_for_);
    result_.not_kept_for = by_frequency(not_kept_for_);
    result_.expected = expected_.text();
    result_.saw_accesses = knowledge_.saw_accesses();
    if (const auto& races = judge_.races()) {
      result_.looked_at_for_races = races->looked_at();
      result_.races_unseen = !races->sees_accesses();
    }
    return std::move(result_);
  }

 private:
  // Gives what another process needs to repeat the runs that matter.
  void hand_over() {
    if (failures_.none()) suspect();
    result_.found = failures_.found();
    result_.suspects = suspected_.found();
  }

  void keep() {
    failures_.keep(workers_->departure());
    if (failures_.none() && options_.again == nullptr) suspect();
    suspected_.keep(workers_->departure());
    workers_.reset();  // replays are process trees of their own
    result_.failures = failures_.verify([this] { return time_is_up(); });
    result_.suspected = suspected_.verify([this] { return time_is_up(); });
  }

  // Notes the runs that left the recording where no passing run went. First makes some more runs, because steps that
  // are merely rare occur in them as well.
  void suspect() {
    constexpr std::uint64_t kMore = 60;
    for (std::uint64_t seed = 1; seed <= kMore && unfinished_.any_left() && !time_is_up(); seed++) {
      RunRequest request;
      request.policy = seed % 2 == 0 ? "pos" : "random";
      request.seed = seed;
      request.observe = true;
      request.step_limit = step_limit();
      request.held = held_;
      unfinished_.learn(judged(workers_->run(request), false), request, request.policy, 0);
    }
    for (const Unfinished::Run* each : unfinished_.suspected())
      suspected_.note(each->run, each->request, each->how, each->number, step_limit());
  }
  static ExpectedEndings expected_of(const CampaignOptions& options) {
    return options.expected.empty() ? ExpectedEndings::of_recording(RecordingReader(options.recording).manifest())
                                    : ExpectedEndings::parse(options.expected);
  }
  static bool passed(const ExpectedEndings& expected, const Manifest& manifest) {
    RunResult recorded = recorded_end(manifest);
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
  // True if this share of the time limit is used up.
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

  RunResult one_run(RunRequest request) {
    request.held = held_;
    RunResult run = judged(workers_->run(request), judge_.takes_next());
    count(request, run);
    return run;
  }

  RunResult judged(RunResult run, bool for_races) {
    return judge_.judge(std::move(run), for_races, workers_->departure());
  }

  void count(const RunRequest& request, const RunResult& run) {
    if (run.called_off) return;
    CampaignProgress& progress = result_.progress;
    progress.runs++;
    progress.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    progress.quiet_runs += request.quiet != nullptr ? 1 : 0;
    (request.quiet != nullptr ? progress.quiet_seconds : progress.full_seconds) += run.seconds;
    if (run.text == kNotHeld) {
      progress.not_held++;
    } else if (run.outcome == wire::OutcomeKind::kLeftRecording) {
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

  // Long runs have schedule points only at accesses to memory that may be shared. Every fourth run has all of them,
  // because memory that was never seen shared may be shared under another schedule.
  void silence(RunRequest& request) {
    constexpr std::uint64_t kProfileRuns = 4, kFull = 4;
    const std::uint64_t made = started_++;
    if (options_.every_access || held_ != nullptr) {  // an assumption is about accesses, whether shared or not
      request.quiet = nullptr;
      return;
    }
    if (request.own_quiet || made < kProfileRuns || made % kFull == 0) return;
    if (made % 64 == 5 || quiet_ == nullptr) quiet_ = knowledge_.quiet_sites();
    request.quiet = quiet_;
  }

  // Measures how long runs are when accesses are schedule points, because the recorded run does not show that.
  void measure() {
    RunRequest request;
    request.policy = "native";
    request.step_limit = kLongest;
    const RunResult run = one_run(request);
    if (run.fair_from == 0) length_ = std::max(length_, run.steps);
    note(run, request, "an undisturbed run");
  }

  // Finds out how long runs are and which variables are shared.
  void undisturbed_run() {
    RunRequest request = request_of({});
    request.observe = true;
    request.step_limit = step_limit();
    note(one_run(request), request, "an undisturbed run");
  }

  SearchOptions search_options() {
    SearchOptions options;
    options.seed = options_.seed;
    options.depth = options_.depth;
    options.knowledge = &knowledge_;
    options.learned = options_.learned;
    options.opened = !options_.opens;
    options.places = &places_;
    return options;
  }

  // Tries the user's candidates, before anything else.
  void confirm_candidates() {
    if (options_.candidates.candidates.empty()) return;
    KnownCandidates known(options_.candidates);
    SearchOptions options = search_options();
    options.feed = &known;
    Predicted predicted(options);
    drive(predicted, std::numeric_limits<std::uint64_t>::max(), "");
    result_.verdicts = predicted.verdicts();
  }

  // True if the run says nothing about the program (explorer/campaign/recorded_order.h).
  bool is_unfaithful(const RunResult& run, const RunRequest& request) {
    const std::uint64_t before = recorded_order_.unfaithful();
    const bool explained = recorded_order_.explains(
        run, request,
        {workers_->departure(), step_limit(), [this](const RunRequest& asked) { return one_run(asked); },
         [this](const RunResult& seen) { return failures_.observed(seen, step_limit()); }});
    result_.progress.unfaithful += recorded_order_.unfaithful() - before + (explained ? 1 : 0);
    if (explained) result_.unfaithful_end = describe_outcome(run);
    return explained;
  }

  // Repeats the failing runs of other campaigns and notes those that do not fail here.
  void repeat() {
    Repeats repeats(*options_.again);
    drive(repeats, std::numeric_limits<std::uint64_t>::max(), "");
    result_.missed = repeats.missed();
    if (!failures_.none() || options_.suspects_again == nullptr) return;
    Repeats suspects(*options_.suspects_again);
    while (std::optional<RunRequest> request = suspects.next()) {
      request->step_limit = step_limit();
      const RunResult run = judged(workers_->run(*request), false);
      if (run.outcome == wire::OutcomeKind::kLeftRecording)
        suspected_.note(run, *request, request->source, result_.progress.runs, step_limit());
    }
  }

  // Predictions from long runs depend on timing.
  bool predicts() const {
    return options_.strategy == "auto" && options_.opens && options_.fork_at.empty() &&
           options_.candidates.candidates.empty() && (options_.depends_on_time || is_short_);
  }

  // Makes the given runs, and leaves them out of the counts, which cover only the search.
  void make_given() {
    if (options_.given == nullptr) return;
    const CampaignProgress before = result_.progress;
    GivenRuns given(*options_.given);
    drive(given, std::numeric_limits<std::uint64_t>::max(), "");
    result_.given = given.ends();
    const std::uint64_t failures = result_.progress.failures;
    result_.progress = before;
    result_.progress.failures = failures;
  }

  void search() {
    if (options_.again != nullptr) return repeat();
    if (options_.runs == 0) return;
    may_have_one_schedule_ = true;
    SearchOptions options = search_options();
    if (predicts()) {
      begin_prediction();
      options.feed = prediction_.get();
    }
    const std::unique_ptr<Search> search = find_search(options_.strategy)->make(options);
    // The first runs of `auto` show what an undisturbed run shows.
    if (options_.strategy != "auto") undisturbed_run();
    drive(*search, options_.runs, fmt::format("{}, seed {}, ", options_.strategy, options_.seed));
    result_.report = search->report();
    if (prediction_ != nullptr) result_.prediction = prediction_->report();
    prediction_.reset();
  }

  // Makes the runs that `search` asks for, at most `left`. `how`: the beginning of KeptFailure::how.
  void drive(Search& search, std::uint64_t left, const std::string& how) {
    while (!enough()) {
      while (left > 0 && workers_->started() < workers_->capacity()) {
        std::optional<RunRequest> request = search.next();
        if (!request) break;
        request->step_limit = step_limit();
        silence(*request);
        request->held = held_;
        workers_->start(*request);
        left--;
      }
      if (workers_->started() == 0) break;
      Workers::Done done = workers_->finish();
      const RunRequest& request = done.request;
      RunResult run = judged(std::move(done.result), options_.again != nullptr || judge_.takes_next());
      count(request, run);
      if (run.called_off) continue;
      look_for_choices(run);
      if (run.fair_from == 0) length_ = std::max(length_, run.steps);
      const std::string source = how + (request.source.empty() ? request.policy : request.source);
      unfinished_.learn(run, request, source, result_.progress.runs);
      const bool failed = note(run, request, source);
      // The search must not learn from a failure that says nothing about the program.
      if (run.failed() && !failed) run.outcome = wire::OutcomeKind::kLeftRecording;
      search.learn(request, run);
      if (prediction_ != nullptr && left > 0) prediction_->learn(run, knowledge_.take_news());
    }
  }

  // Ends the search after its first run if there is nothing to choose.
  void look_for_choices(const RunResult& run) {
    if (!std::exchange(may_have_one_schedule_, false)) return;
    result_.one_schedule = has_one_schedule(options_.recording, workers_->departure(), run);
    stopped_ = stopped_ || result_.one_schedule;
  }

  // Predicting from short runs takes a moment. The campaign waits for that, so it does not depend on timing.
  void begin_prediction() {
    constexpr double kShare = 0.25, kMostSeconds = 60;
    const double seconds = options_.seconds > 0 ? std::min(kMostSeconds, options_.seconds * kShare) : kMostSeconds;
    const std::string folder = (fs::path(options_.output) / "prediction").string();
    Folder::create(folder);
    prediction_ = std::make_unique<Prediction>(folder, seconds, [this](const RunResult& run, const std::string& path) {
      save_run(options_.recording, workers_->departure(), run, options_.strategy, path);
    });
    prediction_->wait_for_each(is_short_);
    prediction_->start(options_.recording);
  }

  // A run that did not end under the fair schedule may just be long. Until the campaign's first confirmed hang, such a
  // run is repeated with ten times as many points under the fair schedule.
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
    const std::uint64_t number = result_.progress.runs;
    if (run.text == wire::kNeverEnds && !hang_confirmed_) return note_long(run, request, how);
    if (is_unfaithful(run, request)) return false;
    result_.progress.failed++;
    if (run.races.empty()) failures_.note(run, request, how, number, step_limit());
    RunResult one = run;  // each race is a failure of its own
    for (const std::string& race : run.races) {
      one.text = race;
      failures_.note(one, request, how, number, step_limit());
    }
    result_.progress.failures = failures_.different_ends();
    return true;
  }

  // The step limit of runs: a run that is so much longer than the earlier ones probably hangs.
  std::uint64_t step_limit() const {
    constexpr std::uint64_t kLeast = 50'000, kMany = 1'000'000;
    return std::max({kLeast, std::min(length_ * 100, kMany), length_ * 4});
  }

  Runner runner() {
    return [this](RunRequest request) {
      request.held = held_;
      if (is_used_up(kMinimiseShare)) {
        RunResult none;
        none.called_off = true;
        return none;
      }
      result_.minimising_runs++;
      return judged(workers_->run(request), true);
    };
  }

  const CampaignOptions& options_;
  const std::function<bool(const CampaignProgress&)>& on_progress_;
  const ExpectedEndings expected_;
  Places places_;
  RecordedOrder recorded_order_;
  const Clock::time_point start_ = Clock::now(), deadline_ = deadline_of(options_);
  std::unique_ptr<Workers> workers_;
  Knowledge knowledge_;
  std::shared_ptr<const HeldGoals> held_;  // null: nothing is assumed
  RunJudge judge_;
  // Numbers of schedule points. A short run has at most kShort. kLongest is the step limit of measure().
  static constexpr std::uint64_t kShort = 200'000, kLongest = 500'000'000;
  std::uint64_t length_ = 1000;
  bool is_short_ = false;
  bool stopped_ = false;
  bool hang_confirmed_ = false;
  bool may_have_one_schedule_ = false;      // the search has made no run yet
  std::unique_ptr<Prediction> prediction_;  // null: this campaign makes none
  std::uint64_t started_ = 0;               // runs of the search
  std::shared_ptr<const QuietSites> quiet_;
  std::map<std::string, std::uint64_t> left_for_, not_kept_for_;
  Failures failures_;
  Unfinished unfinished_;
  Failures suspected_;  // runs of unfinished_
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<bool(const CampaignProgress&)>& on_progress) {
  return Campaign(options, on_progress).run();
}

}  // namespace reweave
