#include "explorer/hunt/target_hunter.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "explorer/campaign_report.h"
#include "explorer/child.h"
#include "explorer/hunt/failure_place.h"
#include "explorer/interruption.h"
#include "formats/error.h"
#include "formats/fd.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// If none of the first runs of a search could be examined, later ones would fare no better.
constexpr std::uint64_t kVainRuns = 30;
constexpr const char* kSearchFolder = "search";

}  // namespace

TargetHunter::TargetHunter(const HuntOptions& options, TargetHunt& hunt, std::string folder, Clock::time_point deadline,
                           std::function<void()> save)
    : options_(options),
      hunt_(hunt),
      folder_(std::move(folder)),
      deadline_(deadline),
      save_(std::move(save)),
      expected_(ExpectedEndings::parse(expected_endings())) {}

std::string TargetHunter::expected_endings() const {
  if (!options_.expected.empty()) return options_.expected;
  return hunt_.target.expected.empty() ? "0" : hunt_.target.expected;
}

double TargetHunter::seconds_left() const {
  return std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count());
}

bool TargetHunter::is_over() const { return interruption() != 0 || Clock::now() >= deadline_; }

bool TargetHunter::is_enough() const { return !options_.all && found_; }

void TargetHunter::run() {
  hunt_.problem.clear();
  hunt_.problem_status = 0;
  remove_leftovers();
  if (!record_passing() || is_enough() || is_over()) return;
  search();
}

// Of a hunt that was killed.
void TargetHunter::remove_leftovers() const {
  for (const char* name : {kRecordingFolder, kSearchFolder}) fs::remove_all(path_of(name));
}

void TargetHunter::show(const std::string& doing, std::uint64_t runs, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(runs) / seconds : 0;
  const std::string left = fmt::format("{:.0f} s left", seconds_left());
  const std::string counted = fmt::format("{} runs, {:.0f} runs/s, ", runs, rate);
  const std::vector<std::string> texts = {
      fmt::format("{} {}: {}{}", doing, hunt_.target.name, runs > 0 ? counted : "", left),
      fmt::format("{}: {}", doing, left)};
  progress_.show(texts);
}

CampaignOptions TargetHunter::campaign_options() const {
  CampaignOptions options;
  options.recording = path_of(kPassingFolder);
  options.output = path_of(kSearchFolder);
  options.runs = options_.runs != 0 ? options_.runs : std::numeric_limits<std::uint64_t>::max() / 2;
  options.seconds = std::max(seconds_left(), 0.001);
  options.seed = hunt_.searches.empty() ? 1 : hunt_.searches.back().seed + 1;
  options.jobs = options_.jobs;
  options.expected = expected_.text().empty() ? "" : expected_endings();
  options.stop_at_first = !options_.all;
  return options;
}

CampaignResult TargetHunter::campaign(const CampaignOptions& options) {
  return run_campaign(options, [this](const CampaignProgress& progress) {
    show("searching", progress.runs, progress.seconds);
    return interruption() == 0 && (progress.runs < kVainRuns || progress.examined() > 0);
  });
}

// Until a failure is found that replays, which the first search may not do.
void TargetHunter::search() {
  while (!is_over()) {
    const CampaignOptions options = campaign_options();
    const CampaignResult result = campaign(options);
    progress_.clear();
    take_over(result, options);
    if (result.progress.runs > 0 && result.progress.examined() == 0 && !is_over()) return record_unfairly();
    if (is_enough() || options_.runs != 0 || result.failures.empty()) return;
  }
}

// What the search has left becomes the hunt's.
void TargetHunter::take_over(const CampaignResult& result, const CampaignOptions& options) {
  HuntSearch search;
  search.strategy = options.strategy;
  search.seed = options.seed;
  search.runs = result.progress.runs;
  search.examined = result.progress.examined();
  search.seconds = result.progress.seconds;
  search.saw_accesses = result.saw_accesses;
  search.summary = summary_of(result, options,
                              fmt::format("{}--for {}s", hunt_.folder.empty() ? "" : "its part of ", options_.seconds));
  hunt_.searches.push_back(search);
  const SourcePaths sources(path_of(kSearchFolder) + "/prediction");
  for (const KeptFailure& failure : result.failures) take_over(failure, sources);
  fs::remove_all(path_of(kSearchFolder));
  save_();
}

void TargetHunter::take_over(const KeptFailure& failure, const SourcePaths& sources) {
  found_ = found_ || failure.reproduced();
  const auto known = std::ranges::find_if(hunt_.failures, [&](const HuntFailure& other) {
    return other.kept.what == failure.what && other.kept.story == failure.story &&
           other.kept.reproduced() == failure.reproduced();
  });
  if (known != hunt_.failures.end()) {
    known->kept.count += failure.count;
    return;
  }
  HuntFailure found = {failure, "", 0, false};
  found.kept.path = free_name(failure.reproduced());
  fs::rename(failure.path, path_of(found.kept.path));
  sources.place(found);
  if (failure.reproduced()) explain(path_of(found.kept.path));
  hunt_.failures.push_back(found);
}

// Puts the report of `reweave explain` beside the recording, as report.html. A failure without one is a failure, too.
void TargetHunter::explain(const std::string& recording) {
  constexpr double kLeastSeconds = 5, kMostSeconds = 20, kGrace = 20;
  const double seconds = std::clamp(seconds_left(), kLeastSeconds, kMostSeconds);
  show("explaining", 0, 0);
  const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  ChildCommand command;
  command.argv = {"reweave",
                  "explain",
                  recording,
                  "--html",
                  recording + "/report.html",
                  "--seconds",
                  fmt::format("{:.0f}", seconds)};
  if (const std::string expected = expected_endings(); !expected.empty())
    command.argv.insert(command.argv.end(), {"--expect-status", expected});
  command.output = command.errors = null.get();
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds + kGrace));
  run_child(command, Clock::now() + limit);
  progress_.clear();
}

std::string TargetHunter::free_name(bool reproduced) const {
  for (std::size_t number = 1;; number++) {
    std::string name = fmt::format("{}-{}", reproduced ? "failure" : "unreproduced", number);
    if (!fs::exists(path_of(name))) return name;
  }
}

}  // namespace reweave
