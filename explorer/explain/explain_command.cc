#include "explorer/explain/explain_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "explorer/expected_endings.h"
#include "explorer/explain/context.h"
#include "explorer/explain/explain.h"
#include "explorer/explain/html/page.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_check.h"
#include "explorer/explain/report_ci.h"
#include "explorer/failure_store.h"
#include "explorer/minimise.h"
#include "explorer/workers.h"
#include "formats/error.h"
#include "formats/new_file.h"
#include "formats/number_check.h"
#include "formats/private_folder.h"
#include "formats/recording_reader.h"
#include "recorder/supervisor/recordings.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> interrupted;
// The second time does not wait for what is under way.
void on_interrupt(int number) {
  if (!interrupted.exchange(true)) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

struct ExplainArguments {
  std::string recording, expected;
  std::string html, sarif, junit;  // files to write
  double seconds = 30;
  unsigned jobs = 2;
  bool json = false, full = false;
};

// Makes runs of one recording with all workers at once.
class Bench {
 public:
  Bench(const std::string& recording, const ExplainArguments& arguments, const ExpectedEndings& expected)
      : deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(arguments.seconds))),
        expected_(expected),
        workers_(recording, 0, arguments.jobs, deadline_) {}

  std::vector<RunResult> operator()(const std::vector<RunRequest>& requests) {
    std::vector<RunResult> results;
    std::size_t next = 0;
    while (true) {
      const bool stop = interrupted.load() || Clock::now() > deadline_;
      while (!stop && next < requests.size() && workers_.started() < workers_.capacity())
        workers_.start(requests[next++]);
      if (workers_.started() == 0) return results;
      results.push_back(workers_.finish().result);
      expected_.judge(results.back());
    }
  }
  Departure departure() const { return workers_.departure(); }

 private:
  Clock::time_point deadline_;
  const ExpectedEndings& expected_;
  Workers workers_;
};

// The recorded run, made again by its switches, observed, and with as few preemptions as show it.
RunResult failing_run(const std::string& recording, Bench& bench, const ExpectedEndings& expected, double seconds) {
  constexpr double kMostMinimiseRuns = 1000, kMinimiseShare = 0.2;
  RunResult recorded;
  recorded.records = records_behind(recording, bench.departure());
  const Manifest manifest = RecordingReader(recording).manifest();
  recorded.outcome = manifest.outcome;
  recorded.wait_status = manifest.wait_status;
  expected.judge(recorded);
  REQUIRE(recorded.failed(), "{} passed: there is nothing to explain (--expect-status says which endings are normal)",
          recording);
  RunRequest request = request_of(switches_of(recorded));
  REQUIRE(request.goal.size() <= kGoalBytes, "the schedule of {} is too long to be changed", recording);
  request.observe = true;
  constexpr std::uint64_t kHangSteps = 100'000;  // a hang needs few points to show
  if (recorded.outcome == wire::OutcomeKind::kHang) request.step_limit = kHangSteps;
  const Runner one = [&](const RunRequest& asked) {
    std::vector<RunResult> runs = bench({asked});
    if (!runs.empty()) return std::move(runs.front());
    RunResult called_off;
    called_off.called_off = true;
    return called_off;
  };
  RunResult again = one(request);
  if (again.called_off)
    throw BadInput("the time was up before the run was made again; allow more time", kExitNotExamined);
  REQUIRE(again.outcome == recorded.outcome && again.wait_status == recorded.wait_status,
          "the recorded schedule ends otherwise when the run is made again ({}): the recording cannot answer for what "
          "the program did with its surroundings",
          describe_outcome(again));
  const double affordable = kMinimiseShare * seconds / std::max(again.seconds, 1e-4);
  return minimise(one, again, static_cast<std::uint64_t>(std::min(kMostMinimiseRuns, affordable))).run;
}

// Of programs that take long fewer runs are made.
ExplainOptions affordable(const RunResult& failing, const ExplainArguments& arguments) {
  constexpr double kWhole = 3000;  // runs that the options ask for by default
  ExplainOptions options;
  const double runs = arguments.seconds * arguments.jobs / std::max(failing.seconds, 1e-4);
  if (runs < kWhole) {
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
      REQUIRE(names.insert(path).second, "{} is to be two files at once", path);
      file.emplace(path);
    };
    open(arguments.html, html_);
    open(arguments.sarif, sarif_);
    open(arguments.junit, junit_);
  }
  void write(const nlohmann::json& report, const std::string& recording) const {
    if (html_) html_->write(html_report(report, recording));
    if (sarif_) sarif_->write(text_of(sarif_report(report)) + "\n");
    if (junit_) junit_->write(junit_report(report, recording));
  }
  // What a program's names hold may be no UTF-8.
  static std::string text_of(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  }

 private:
  std::optional<NewFile> html_, sarif_, junit_;
};

int explain_recording(const ExplainArguments& arguments) {
  const std::string recording = recording_to_read(arguments.recording);
  const RecordingReader reader(recording);
  reader.require_whole();
  const ExpectedEndings expected = ExpectedEndings::parse(arguments.expected.empty() ? "0" : arguments.expected);
  const ReportFiles files(arguments);
  std::signal(SIGINT, on_interrupt);
  const bool terminal = isatty(2) != 0;
  const auto progress = [&](const std::string& text) {
    if (terminal) fmt::print(stderr, "\r\033[K{}", text);
  };
  Places places(recording);
  Explanation explanation;
  Departure departure;
  {
    Bench bench(recording, arguments, expected);
    progress("the failing run");
    const RunResult failing = failing_run(recording, bench, expected, arguments.seconds);
    const Batch batch = [&](const std::vector<RunRequest>& requests) { return bench(requests); };
    explanation = explain(batch, failing, affordable(failing, arguments), progress);
    departure = bench.departure();
  }
  progress("");
  const PrivateFolder scratch;
  const std::string run = scratch.path() + "/run";
  save_run(recording, departure, explanation.failing, "schedule", run);
  add_contexts(explanation, run, scratch.path());
  explanation.last_words = last_words_of(run);
  const nlohmann::json report = checked_report(explanation, places);
  files.write(report, recording);
  if (arguments.json)
    fmt::print("{}\n", ReportFiles::text_of(report));
  else
    fmt::print("{}", text_report(explanation, places, arguments.full));
  if (interrupted) return 130;
  return explanation.flips.empty() ? kExitNotExamined : 0;
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
  verb->add_option("--html", arguments->html, "write the report as a page, one file; the name must be new");
  verb->add_option("--sarif", arguments->sarif, "write the cause as SARIF 2.1.0; the name must be new");
  verb->add_option("--junit", arguments->junit, "write the failure as JUnit's XML; the name must be new");
  verb->add_flag("--json", arguments->json, "print the report as JSON");
  verb->add_flag("--full", arguments->full, "print all rows of all tables");
  verb->callback([arguments, &status] { status = explain_recording(*arguments); });
}

}  // namespace reweave
