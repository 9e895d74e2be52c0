#include "explorer/explain/explain_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "explorer/campaign/failure_key.h"
#include "explorer/campaign/failure_store.h"
#include "explorer/campaign/minimise.h"
#include "explorer/campaign/one_schedule.h"
#include "explorer/explain/context.h"
#include "explorer/explain/event_visits.h"
#include "explorer/explain/explain.h"
#include "explorer/explain/html/page.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_check.h"
#include "explorer/explain/report_ci.h"
#include "explorer/explain/report_perfetto.h"
#include "explorer/explain/way/find_way.h"
#include "explorer/run/expected_endings.h"
#include "explorer/run/interruption.h"
#include "explorer/run/workers.h"
#include "explorer/words/memory_stacks.h"
#include "formats/base/error.h"
#include "formats/base/json_text.h"
#include "formats/base/new_file.h"
#include "formats/base/number_check.h"
#include "formats/base/private_folder.h"
#include "formats/base/progress_line.h"
#include "formats/base/terminal.h"
#include "formats/elf/source_lines.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/record/recordings.h"
#include "replayer/saved_moment.h"
#include "replayer/trace_recording.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

struct ExplainArguments {
  std::string recording, expected;
  std::string html, sarif, junit, perfetto;  // files to write
  double seconds = 30;
  unsigned jobs = 2;
  bool json = false, full = false, save = false;
};

// The place at which explored runs begin. A recording of an explored run repeats another recording up to such a place;
// the part before it is not varied.
std::uint64_t departure_of(const std::string& recording) {
  const Manifest manifest = RecordingReader(recording).manifest();
  return manifest.heap_checks ? manifest.heap_checks_from : 0;
}

// Makes runs of one recording with all workers at once.
class Bench {
 public:
  Bench(const std::string& recording, const ExplainArguments& arguments, const ExpectedEndings& expected)
      : deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(arguments.seconds))),
        expected_(expected),
        workers_(recording, departure_of(recording), arguments.jobs, deadline_) {}

  std::vector<RunResult> operator()(const std::vector<RunRequest>& requests) {
    std::vector<RunResult> results;
    std::size_t next = 0;
    while (true) {
      const bool late = Clock::now() > deadline_, stop = interruption() != 0 || late;
      cut_short_ = cut_short_ || (late && next < requests.size());
      while (!stop && next < requests.size() && workers_.started() < workers_.capacity())
        workers_.start(requests[next++]);
      if (workers_.started() == 0) return results;
      results.push_back(workers_.finish().result);
      expected_.judge(results.back());
    }
  }
  Departure departure() const { return workers_.departure(); }
  // True if some requested runs were not made because the time was up.
  bool was_cut_short() const { return cut_short_; }

 private:
  Clock::time_point deadline_;
  bool cut_short_ = false;
  const ExpectedEndings& expected_;
  Workers workers_;
};

// Explored runs check the heap. So a recorded run that went on after a memory error ends in that error when it is
// repeated.
bool ends_in_unseen_error(const RunResult& again, const Manifest& recorded) {
  return again.outcome == wire::OutcomeKind::kMemoryError && !recorded.heap_checks;
}

// Repeats the recorded run with its switches, observed, and minimises its preemptions.
RunResult failing_run(const std::string& recording, Bench& bench, const ExpectedEndings& expected,
                      const Places& places) {
  // Runs with more schedule points are repeated less often.
  constexpr std::uint64_t kMostMinimiseRuns = 1000, kFewestMinimiseRuns = 20, kMinimisePoints = 10'000'000;
  const Manifest manifest = RecordingReader(recording).manifest();
  RunResult recorded = recorded_end(manifest);
  recorded.records = records_behind(recording, bench.departure());
  expected.judge(recorded);
  REQUIRE(
      recorded.outcome != wire::OutcomeKind::kLeftRecording,
      "{} could not be followed to its end, so it is not known whether it fails; replay -g end shows where it stopped",
      recording);
  REQUIRE(recorded.failed(), "{} passed: there is nothing to explain (--expect-status says which endings are normal)",
          recording);
  RunRequest request = request_of(switches_of(recorded));
  REQUIRE(request.goal.size() <= kGoalBytes, "the schedule of {} is too long to change", recording);
  request.observe = true;
  constexpr std::uint64_t kHangSteps = 100'000;  // a hang shows after few schedule points
  if (recorded.outcome == wire::OutcomeKind::kHang) request.step_limit = kHangSteps;
  const Runner one = one_at_a_time([&](const std::vector<RunRequest>& asked) { return bench(asked); });
  RunResult again = one(request);
  if (const int number = interruption(); again.called_off && number != 0)
    throw BadInput("interrupted before the run was repeated", 128 + number);
  if (again.called_off)
    throw BadInput("the time was up before the run was repeated; allow more time", kExitNotExamined);
  const bool ends_alike = again.outcome == recorded.outcome && again.wait_status == recorded.wait_status;
  REQUIRE(ends_alike || ends_in_unseen_error(again, manifest),
          "the recorded schedule ends differently when it is repeated ({}): the recording cannot answer for the "
          "program's surroundings",
          describe_outcome(again));
  const std::uint64_t affordable = kMinimisePoints / std::max<std::uint64_t>(again.steps, 1);
  const auto same = [&](const RunResult& a, const RunResult& b) {
    return same_failure(a, b) && failure_site(a, places) == failure_site(b, places);
  };
  return minimise(one, again, std::clamp(affordable, kFewestMinimiseRuns, kMostMinimiseRuns), same).run;
}

// The number of runs depends only on the program, so that busy and idle machines give the same explanation. Long runs
// are repeated less often.
ExplainOptions options_for(const RunResult& failing) {
  constexpr std::uint64_t kLong = 50'000;  // schedule points: some 10 ms
  ExplainOptions options;
  if (failing.steps > kLong) {
    options.curve_points = 10;
    options.curve_runs = 20;
    options.remedy_runs = 100;
    options.most_flips = 6;
  }
  return options;
}

// The report as files, besides what is printed.
class ReportFiles {
 public:
  explicit ReportFiles(const ExplainArguments& arguments) {
    std::set<std::string> names;
    const auto open = [&](const std::string& path, std::optional<NewFile>& file) {
      if (path.empty()) return;
      REQUIRE(names.insert(path).second, "{} is named as two output files", path);
      file.emplace(path);
    };
    open(arguments.html, html_);
    open(arguments.sarif, sarif_);
    open(arguments.junit, junit_);
    open(arguments.perfetto, perfetto_);
  }
  void write(const nlohmann::json& report, const std::string& recording) const {
    if (html_) html_->write(html_report(report, recording));
    if (sarif_) sarif_->write(json_text(sarif_report(report)) + "\n");
    if (junit_) junit_->write(junit_report(report, recording));
    if (perfetto_) perfetto_->write(perfetto_report(report));
  }

 private:
  std::optional<NewFile> html_, sarif_, junit_, perfetto_;
};

// Saves the report in the recording's folder, and also the explained run if its preemptions differ from the recorded
// ones.
void save(const nlohmann::json& report, const RunResult& explained, const std::string& recording,
          const Departure& departure) {
  const Folder folder = Folder::open(recording);
  RunResult recorded;
  recorded.records = records_behind(recording, departure);
  std::filesystem::remove_all(folder.path_of(kExplainedRun));
  if (switches_of(recorded).preemptions != switches_of(explained).preemptions)
    save_run(recording, departure, explained, "schedule", folder.path_of(kExplainedRun));
  folder.replace_file(kExplanationFile, json_text(report) + "\n");
}

// Highlights the most important sentences.
std::optional<Style> style_of_line(std::string_view line) {
  if (line.starts_with("The failure:")) return Style::kFailure;
  if (line.starts_with("The ")) return Style::kHeading;
  return std::nullopt;
}

// Time limit for each part of the report that needs replays: ten times what it takes on a slow machine.
constexpr std::chrono::seconds kMostForReplays(60);

// Follows the value with which the run failed, by single-stepping replays of the run.
ValueWay way_of(const RunResult& failing, const std::string& run, const std::string& trace, Places& places) {
  RunEnd end = {failing.outcome, failing.wait_status};
  if (const auto error = memory_error_of(failing.text)) end.thread = error->thread;
  return find_value_way(run, trace, end, places, Clock::now() + kMostForReplays);
}

// Finds the names of variables and callers. If that fails, the report does without them.
void visit_named_events(Explanation& explanation, const std::string& run, Places& places) {
  try {
    if (!visit_events(explanation, run, places, Clock::now() + kMostForReplays))
      explanation.notes.push_back("the names of variables and callers that were not found in time");
  } catch (const BadInput& error) {
    explanation.notes.push_back(fmt::format("the names of variables and callers: {}", error.what()));
  }
}

int explain_recording(const ExplainArguments& arguments) {
  const std::string recording = recording_to_read(arguments.recording);
  const RecordingReader reader(recording);
  reader.require_whole();
  const ExpectedEndings expected = ExpectedEndings::parse(arguments.expected.empty() ? "0" : arguments.expected);
  const ReportFiles files(arguments);
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  ProgressLine line;
  const auto progress = [&](const std::string& text) { line.show({{text}}); };
  Places places(recording);
  Explanation explanation;
  Departure departure;
  {
    Bench bench(recording, arguments, expected);
    progress("the failing run");
    const RunResult failing = failing_run(recording, bench, expected, places);
    const Batch batch = [&](const std::vector<RunRequest>& requests) { return bench(requests); };
    ExplainOptions options = options_for(failing);
    options.one_schedule = has_one_schedule(recording, bench.departure(), failing);
    options.same_place = [&](std::uint64_t a, std::uint64_t b) { return places.code(a) == places.code(b); };
    explanation = explain(batch, failing, options, progress);
    if (reader.manifest().outcome != failing.outcome)
      explanation.recorded_outcome = first_line(describe_outcome(recorded_end(reader.manifest())));
    if (bench.was_cut_short())
      explanation.notes.push_back(
          fmt::format("the experiments left when {:g} s were over (--seconds allows more)", arguments.seconds));
    departure = bench.departure();
  }
  const PrivateFolder scratch;
  const std::string run = scratch.path() + "/run";
  save_run(recording, departure, explanation.failing, "schedule", run);
  const std::string trace = scratch.path() + "/trace.rwt";
  trace_recording(run, trace);
  add_traced_contexts(explanation, trace);
  if (const auto error = memory_error_of(explanation.failing.text))
    explanation.block = block_text(memory_stacks(trace, *error), places);
  progress("the names of variables");
  visit_named_events(explanation, run, places);
  progress("the value with which it fails");
  if (explanation.deadlock.empty()) explanation.way = way_of(explanation.failing, run, trace, places);
  line.clear();
  explanation.last_words = last_words_of(run);
  const nlohmann::json report = checked_report(explanation, places);
  files.write(report, recording);
  if (arguments.save) save(report, explanation.failing, recording, departure);
  if (arguments.json)
    fmt::print("{}\n", json_text(report));
  else
    fmt::print("{}", with_styles(text_report(report, arguments.full), style_of_line));
  if (const int number = interruption(); number != 0) return 128 + number;
  const bool matters = explanation.cause_is_shown() || explanation.only_needs_order() || !explanation.deadlock.empty();
  return matters ? 0 : kExitNotExamined;
}

}  // namespace

void add_explain_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* verb = app.add_subcommand("explain", "find out why a recorded run fails");
  verb->footer(
      "Changes the order of pairs of events in the failing schedule, makes the runs, and counts which fail: so the\n"
      "cause it names was shown by experiment. Exits 0 if an order was found that makes the difference, 11 if none\n"
      "was. Ctrl-C ends the experiments and reports what is known by then.");
  verb->add_option("recording", arguments->recording, "the failing recording; default: the latest");
  verb->add_option("--seconds", arguments->seconds, "limit of time")->check(seconds_number())->capture_default_str();
  verb->add_option("-j,--jobs", arguments->jobs, "workers, each on a processor of its own")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  verb->add_option("--expect-status", arguments->expected,
                   "exit statuses and signals that are normal, such as 0,3,SIGTERM; default: 0");
  verb->add_option("--html", arguments->html, "write the report as an HTML page in this new file");
  verb->add_option("--sarif", arguments->sarif, "write the cause as SARIF 2.1.0 to this new file");
  verb->add_option("--junit", arguments->junit, "write the failure as JUnit XML to this new file");
  verb->add_option("--perfetto", arguments->perfetto,
                   "write the failing and the passing schedule as a trace for ui.perfetto.dev to this new file");
  verb->add_flag("--save", arguments->save,
                 "keep the report in the recording, for `replay -g inevitable` and `explore --expect-fixed`");
  verb->add_flag("--json", arguments->json, "print the report as JSON");
  verb->add_flag("--full", arguments->full, "print all rows of all tables");
  verb->callback([arguments, &status] { status = explain_recording(*arguments); });
}

}  // namespace reweave
