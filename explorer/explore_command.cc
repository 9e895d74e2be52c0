#include "explorer/explore_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <memory>

#include "explorer/campaign.h"
#include "explorer/campaign_report.h"
#include "explorer/interruption.h"
#include "explorer/searches/search.h"
#include "formats/error.h"
#include "formats/number_check.h"
#include "formats/recording_reader.h"
#include "recorder/supervisor/recordings.h"

namespace reweave {

namespace {

struct ExploreArguments {
  CampaignOptions options;
  std::string candidates;
};

void list_strategies() {
  for (const SearchRow& row : all_searches()) fmt::print("{:10} {}\n", row.name, row.help);
  fmt::print("{:10} only the candidates of --candidates, along their witnesses\n", "witness");
}

bool show_progress(const CampaignProgress& progress, const CampaignOptions& options) {
  static const bool terminal = isatty(2) != 0;
  if (terminal && progress.runs % 64 == 0) {
    const double rate = progress.seconds > 0 ? static_cast<double>(progress.runs) / progress.seconds : 0;
    const double left = rate > 0 ? static_cast<double>(options.runs - std::min(options.runs, progress.runs)) / rate : 0;
    fmt::print(stderr, "\r{} runs, {:.0f} runs/s, {} distinct failure{}, {:.0f} s left   ", progress.runs, rate,
               progress.failures, progress.failures == 1 ? "" : "s", left);
  }
  return interruption() == 0;
}

void print_verdicts(const CampaignResult& result) {
  for (const CandidateVerdict& verdict : result.verdicts)
    fmt::print("candidate {} ({}): {}; {}\n", verdict.number, name_of(verdict.kind), verdict.how,
               verdict.failed ? "the run failed: " + verdict.outcome : "the run " + verdict.outcome);
}

CampaignResult run(const CampaignOptions& options, bool whole) {
  try {
    return run_campaign(options, [&](const CampaignProgress& progress) { return show_progress(progress, options); });
  } catch (const BadInput& error) {
    if (whole) throw;
    throw BadInput(error.what(), kExitTruncated);  // what it lacks may be what was cut off
  }
}

int explore(ExploreArguments& arguments) {
  CampaignOptions& options = arguments.options;
  if (options.strategy == "help") {
    list_strategies();
    return 0;
  }
  REQUIRE(options.strategy == "witness" || find_search(options.strategy) != nullptr,
          "unknown strategy {}; --strategy=help lists them", options.strategy);
  if (options.strategy == "witness") options.runs = 0;
  options.recording = recording_to_read(options.recording);
  const RecordingReader reader(options.recording);
  if (!reader.is_whole())
    fmt::print(stderr, "reweave: {} is cut; only what it has can be explored\n", options.recording);
  if (options.output.empty()) options.output = options.recording + ".explored";
  if (!arguments.candidates.empty()) options.candidates = read_candidates(arguments.candidates);
  receive_interruptions({SIGINT});
  const CampaignResult result = run(options, reader.is_whole());
  if (isatty(2) != 0) fmt::print(stderr, "\r\033[K");
  print_verdicts(result);
  for (const std::string& line : summary_of(result, options, fmt::format("--seconds {}", options.seconds)))
    fmt::print("{}\n", line);
  for (const KeptFailure& failure : result.failures)
    if (failure.reproduced()) fmt::print("{}: {}\n{}", failure.path, failure.what, details_of(failure));
  for (const KeptFailure& failure : result.failures)
    if (!failure.reproduced())
      fmt::print("not reproduced, {} of {} replays: {}: {}\n  found by {} in run {}\n", failure.verified,
                 failure.replays, failure.path, failure.what, failure.how, failure.found_at);
  if (reproduced_failures(result) > 0) return kExitFailureFound;
  if (!reader.is_whole()) return kExitTruncated;
  return result.progress.examined() > 0 && !result.races_unseen ? 0 : kExitNotExamined;
}

}  // namespace

void add_explore_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ExploreArguments>();
  CampaignOptions& options = arguments->options;
  CLI::App* verb = app.add_subcommand("explore", "search the schedules of a recorded run for one that fails");
  verb->footer(
      "Exits 0 if nothing failed, 10 if a failure was found that replays, 11 if no run could be examined, 6 if nothing "
      "failed and the recording is cut. Ctrl-C ends the search and keeps what was found; "
      "a second one ends at once, and keeps nothing.");
  verb->add_option("recording", options.recording, "the recording to depart from; default: the latest");
  verb->add_option("-o,--output", options.output,
                   "folder to create for failing recordings; default: RECORDING.explored");
  verb->add_option("--candidates", arguments->candidates, "candidates of `reweave predict`, tried first");
  verb->add_option("--runs", options.runs, "runs of the search")->check(whole_number())->capture_default_str();
  verb->add_option("--seconds", options.seconds, "limit of the search, which calls off the run under way; 0: none")
      ->check(seconds_number())
      ->capture_default_str();
  verb->add_option("--fork-at", options.fork_at,
                   "let runs begin where the program first enters this function, not at main: nothing before it is "
                   "explored, or repeated for each run. No other thread may run then")
      ->excludes("--candidates");
  verb->add_option("--strategy", options.strategy, "how to search; 'help' lists the strategies")->capture_default_str();
  verb->add_option("--seed", options.seed, "of the campaign: the same seed gives the same runs")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_option("--depth", options.depth, "pct: number of ordering constraints that a bug needs")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  verb->add_option("--learned", options.learned, "hapset: file to load what it learned from, and to save it to");
  verb->add_option(
      "--expect-status", options.expected,
      "exit statuses and signals that are normal, such as 0,3,SIGTERM; default: the recorded run's status");
  verb->add_option("--check", options.check,
                   "command that judges each run which passed: it reads what the run wrote to its standard output, and "
                   "a status other than 0 is a failure");
  verb->add_option("-j,--jobs", options.jobs, "workers, each on a processor of its own")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  verb->add_option("--verify", options.verifications, "replays of each failure, which must all fail the same way")
      ->check(whole_number(0, std::numeric_limits<unsigned>::max()))
      ->capture_default_str();
  verb->add_option("--minimise", options.minimise_runs, "runs spent on making each failure's schedule minimal")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_flag(
      "--races", options.races,
      "a data race is a failure, told as `record --races` tells it, with TSAN_OPTIONS; each run costs a trace "
      "more, so of long campaigns the first 100 runs are looked at, then each tenth");
  verb->add_flag("--every-access", options.every_access,
                 "let threads be stopped before every access, not only those that may be shared");
  verb->add_flag("--first", options.stop_at_first, "stop at the first failure");
  verb->callback([arguments, &status] { status = explore(*arguments); });
}

}  // namespace reweave
