#include "explorer/hunt/target_hunter.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "explorer/campaign/campaign_report.h"
#include "explorer/campaign/failures.h"
#include "explorer/explain/report_ci.h"
#include "explorer/explain/report_sentences.h"
#include "explorer/explain/report_steps.h"
#include "explorer/hunt/failure_place.h"
#include "explorer/run/child.h"
#include "explorer/run/interruption.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "formats/base/json_text.h"
#include "formats/base/private_folder.h"
#include "formats/base/terminal.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// If none of the first runs of a search could be examined, later ones cannot be either.
constexpr std::uint64_t kVainSearchRuns = 30;
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

bool TargetHunter::prepare() {
  hunt_.problem.clear();
  hunt_.problem_status = 0;
  remove_leftovers();
  return record_passing() && !is_enough() && !is_over();
}

void TargetHunter::run() {
  if (prepare()) search();
}

// Removes what a killed hunt left behind.
void TargetHunter::remove_leftovers() const {
  for (const char* name : {kRecordingFolder, kSearchFolder}) fs::remove_all(path_of(name));
}

void TargetHunter::show(const std::string& doing, std::uint64_t runs, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(runs) / seconds : 0;
  const std::string left = fmt::format("{:.0f} s left", seconds_left());
  const std::string made = fmt::format("{}, {:.0f} runs/s, ", counted(runs, "run"), rate);
  const std::vector<std::string> texts = {
      fmt::format("{} {}: {}{}", doing, hunt_.target.name, runs > 0 ? made : "", left),
      fmt::format("{}: {}", doing, left)};
  progress_.show(texts);
}

CampaignOptions TargetHunter::campaign_options() const {
  CampaignOptions options;
  options.recording = path_of(kPassingFolder);
  options.output = path_of(kSearchFolder);
  options.runs = options_.runs != 0 ? options_.runs : std::numeric_limits<std::uint64_t>::max() / 2;
  options.seconds = std::max(seconds_left(), 0.001);
  options.seed = hunt_.searches.empty() ? options_.seed : hunt_.searches.back().seed + 1;
  options.jobs = options_.jobs;
  options.all_frames = options_.all_frames;
  options.expected = expected_.text().empty() ? "" : expected_endings();
  options.stop_at_first = !options_.all;
  return options;
}

CampaignResult TargetHunter::campaign(const CampaignOptions& options) {
  return run_campaign(options, [this](const CampaignProgress& progress) {
    show("searching", progress.runs, progress.seconds);
    return interruption() == 0 && (progress.runs < kVainSearchRuns || progress.examined() > 0);
  });
}

// Searches until a failure is found that replays; the first search may find only failures that do not.
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

namespace {

// True if `line` is about a run that left in the same way, kept under a name of its own.
bool tells_of(const std::string& line, KeptFailure run) {
  run.path = line.substr(0, line.find(": "));
  return line == suspected_text(run);
}

}  // namespace

// Moves the results of a search into the hunt. A suspected run that is known from an earlier search is not kept again.
void TargetHunter::take_over(const CampaignResult& result, const CampaignOptions& options) {
  HuntSearch search;
  search.strategy = options.strategy;
  search.seed = options.seed;
  search.runs = result.progress.runs;
  search.examined = result.progress.examined();
  search.seconds = result.progress.seconds;
  search.saw_accesses = result.saw_accesses;
  search.one_schedule = result.one_schedule;
  search.summary = summary_of(result, options,
                              fmt::format("{}--for {}s", hunt_.folder.empty() ? "" : "its part of ", options_.seconds));
  for (KeptFailure run : result.suspected) {
    const std::string from = std::exchange(run.path, path_of(free_name("suspected")));
    const bool is_known = std::ranges::any_of(hunt_.searches, [&](const HuntSearch& earlier) {
      return std::ranges::any_of(earlier.suspected, [&](const std::string& line) { return tells_of(line, run); });
    });
    if (is_known) continue;
    fs::rename(from, run.path);
    search.suspected.push_back(suspected_text(run));
  }
  hunt_.searches.push_back(search);
  const SourcePaths sources(path_of(kSearchFolder) + "/prediction");
  for (const KeptFailure& failure : result.failures) take_over(failure, sources);
  fs::remove_all(path_of(kSearchFolder));
  save_();
}

void TargetHunter::take_over(const KeptFailure& failure, const SourcePaths& sources) {
  found_ = found_ || failure.reproduced();
  const auto known = std::ranges::find_if(hunt_.failures, [&](const HuntFailure& other) {
    return other.found_as == failure.what && other.kept.story == failure.story &&
           other.kept.reproduced() == failure.reproduced();
  });
  if (known != hunt_.failures.end()) {
    known->kept.count += failure.count;
    return;
  }
  HuntFailure found = {failure, "", 0, false, failure.what, ""};
  found.kept.path = free_name(failure.reproduced() ? "failure" : "unreproduced");
  fs::rename(failure.path, path_of(found.kept.path));
  sources.place(found);
  if (failure.reproduced()) explain(found);
  hunt_.failures.push_back(found);
}

// Writes the report of `reweave explain` into the recording, as report.html. Its cause replaces the search's, which
// rests on fewer experiments. The search's cause stays if the explanation found none because its time was up. A failure
// without a report is kept too.
void TargetHunter::explain(HuntFailure& failure) {
  constexpr double kLeastSeconds = 5, kMostSeconds = 20;
  constexpr double kGrace = 150;  // for the replays that explain makes after its experiments
  const double seconds = std::clamp(seconds_left(), kLeastSeconds, kMostSeconds);
  const std::string recording = path_of(failure.kept.path), page = recording + "/" + kReportFile;
  show("explaining", 0, 0);
  const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const PrivateFolder scratch;
  const std::string report = scratch.path() + "/report.json";
  ChildCommand command;
  command.argv = {
      "reweave", "explain", recording, "--save", "--html", page, "--json", "--seconds", fmt::format("{:.0f}", seconds)};
  if (const std::string expected = expected_endings(); !expected.empty())
    command.argv.insert(command.argv.end(), {"--expect-status", expected});
  const Fd output(open(report.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  command.output = output.get();
  command.errors = null.get();
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds + kGrace));
  const ChildEnd end = run_child(command, Clock::now() + limit);
  progress_.clear();
  if (fs::exists(page)) {
    std::ifstream in(report);
    const nlohmann::json told = nlohmann::json::parse(in, nullptr, false);
    if (!told.is_discarded()) take_cause(failure, told);
  } else if (interruption() == 0 && !failure.recorded) {  // of recorded runs, not all can be explored
    notice("{} has no {}: `reweave explain` {}", recording, kReportFile,
           end.out_of_time ? fmt::format("took more than {:.0f} s", seconds + kGrace)
                           : fmt::format("ended with status {}", end.status()));
  }
}

void TargetHunter::take_cause(HuntFailure& failure, const nlohmann::json& report) {
  const std::string cause = cause_with_remedy(report);
  if (cause.empty() && report.at("out_of_time")) return;
  failure.kept.what = report.at("failure");  // names objects that the search knows by their addresses
  failure.kept.cause = cause;
  write_story(path_of(failure.kept.path), failure.kept);
  if (const nlohmann::json flows = code_flows(report, path_in_checkout); !flows.empty())
    failure.flows = json_text(flows, -1);
  const nlohmann::json step = main_step_of_cause(report);
  if (step.is_null()) return;
  failure.file = path_in_checkout(step.at("file").get<std::string>());
  failure.line = static_cast<std::uint32_t>(std::max(step.at("line").get<std::int64_t>(), std::int64_t{1}));
}

std::string TargetHunter::free_name(const std::string& kind) const {
  for (std::size_t number = 1;; number++) {
    std::string name = fmt::format("{}-{}", kind, number);
    if (!fs::exists(path_of(name))) return name;
  }
}

}  // namespace reweave
