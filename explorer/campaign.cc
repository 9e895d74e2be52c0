#include "explorer/campaign.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "explorer/failure_store.h"
#include "explorer/minimise.h"
#include "explorer/places.h"
#include "explorer/searches/search.h"
#include "explorer/story.h"
#include "explorer/strategies/goals.h"
#include "explorer/switches.h"
#include "explorer/workers.h"
#include "formats/error.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::byte> goal_of(const Candidate& candidate) {
  std::vector<std::byte> bytes(candidate.witness.size() * sizeof(WitnessGoal));
  for (std::size_t i = 0; i < candidate.witness.size(); i++) {
    const WitnessStep& step = candidate.witness[i];
    const WitnessGoal goal = {step.pc, step.thread, {}};
    std::memcpy(bytes.data() + i * sizeof goal, &goal, sizeof goal);
  }
  return bytes;
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<bool(const CampaignProgress&)>& on_progress)
      : options_(options),
        on_progress_(on_progress),
        workers_(std::make_unique<Workers>(options.recording, options.jobs)),
        places_(options.recording),
        start_(Clock::now()) {
    REQUIRE(!fs::exists(options.output), "{} exists already; choose another folder for the failures", options.output);
    fs::create_directories(options.output);
  }

  CampaignResult run() {
    length_ = std::max<std::uint64_t>(workers_->departure().recorded_steps, 16);
    confirm_candidates();
    search();
    verify();
    return std::move(result_);
  }

 private:
  bool time_is_up() const {
    return options_.seconds > 0 && std::chrono::duration<double>(Clock::now() - start_).count() > options_.seconds;
  }
  bool enough() const { return stopped_ || time_is_up() || (options_.stop_at_first && !result_.failures.empty()); }

  RunResult one_run(const RunRequest& request) {
    RunResult run = workers_->run(request);
    count(request, run);
    return run;
  }

  void count(const RunRequest& request, const RunResult& run) {
    CampaignProgress& progress = result_.progress;
    progress.runs++;
    progress.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    progress.quiet_runs += request.quiet != nullptr ? 1 : 0;
    (request.quiet != nullptr ? progress.quiet_seconds : progress.full_seconds) += run.seconds;
    if (run.outcome == wire::OutcomeKind::kLeftRecording) progress.left_recording++;
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
      RunRequest request;
      request.policy = "witness";
      request.goal = goal_of(candidate);
      request.step_limit = step_limit();
      const RunResult run = one_run(request);
      result_.verdicts.push_back(
          {i, run.goal_progress >= candidate.witness.size(), describe_outcome(run), run.failed()});
      note(run, request, fmt::format("candidate {} ({})", i + 1, name_of(candidate.kind)));
    }
  }

  void search() {
    if (options_.runs == 0) return;
    SearchOptions options;
    options.seed = options_.seed;
    options.depth = options_.depth;
    options.knowledge = &knowledge_;
    options.learned = options_.learned;
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
      const auto [request, run] = workers_->finish();
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
    for (std::size_t i = 0; i < kept_.size(); i++)
      result_.failures[i].verified = verify_recording(result_.failures[i].path, kept_[i], options_.verifications);
  }

  std::uint64_t step_limit() const { return std::max<std::uint64_t>(200'000, length_ * 100); }

  // Keeps a failure that is not yet known.
  void note(const RunResult& run, const RunRequest& request, const std::string& how) {
    if (!run.failed()) return;
    for (const RunResult& known : known_)
      if (same_failure(known, run)) return;
    known_.push_back(run);
    const RunResult smallest =
        minimise([this](const RunRequest& again) { return workers_->run(again); }, run, options_.minimise_runs);
    KeptFailure kept;
    kept.path = (fs::path(options_.output) / fmt::format("failure-{}", result_.failures.size() + 1)).string();
    kept.what = describe_outcome(smallest);
    kept.found_at = result_.progress.runs;
    kept.preemptions = preemptions_of(smallest);
    kept.how = how;
    kept.story = tell_story(smallest, places_);
    save_run(options_.recording, workers_->departure(), smallest, request.policy, kept.path);
    if (!kept.story.empty()) std::ofstream(kept.path + "/story.txt") << kept.story << "\n";
    kept_.push_back(smallest);
    result_.failures.push_back(kept);
    result_.progress.failures = result_.failures.size();
  }

  const CampaignOptions& options_;
  const std::function<bool(const CampaignProgress&)>& on_progress_;
  std::unique_ptr<Workers> workers_;
  Places places_;
  Knowledge knowledge_;
  Clock::time_point start_;
  std::uint64_t length_ = 1000;
  bool stopped_ = false;
  std::uint64_t started_ = 0;  // runs of the search
  std::shared_ptr<const QuietSites> quiet_;
  std::vector<RunResult> known_;  // as found
  std::vector<RunResult> kept_;   // as kept, in the order of result_.failures
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<bool(const CampaignProgress&)>& on_progress) {
  return Campaign(options, on_progress).run();
}

}  // namespace reweave
