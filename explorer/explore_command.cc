#include "explorer/explore_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "explorer/campaign/assumption.h"
#include "explorer/campaign/campaign.h"
#include "explorer/campaign/campaign_report.h"
#include "explorer/campaigns/campaign_command.h"
#include "explorer/explore_report.h"
#include "explorer/fixed/expect_fixed.h"
#include "explorer/record_passing.h"
#include "explorer/run/interruption.h"
#include "explorer/searches/search.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/json_text.h"
#include "formats/base/number_check.h"
#include "formats/base/progress_line.h"
#include "formats/base/terminal.h"
#include "formats/recording/recording_reader.h"
#include "formats/trace/traceinfo.h"
#include "recorder/supervisor/record/recordings.h"

namespace reweave {

namespace {

struct ExploreArguments {
  CampaignOptions options;
  std::vector<std::string> words;  // the recording or, after `--`, the program
  std::string candidates;
  std::string expect_fixed;  // an old recording
  bool json = false;
  std::string campaign;  // run a unit of this campaign instead
  std::string unit;
};

void list_strategies() {
  for (const SearchRow& row : all_searches()) fmt::print("{:10} {}\n", row.name, row.help);
  fmt::print("{:10} only the candidates of --candidates, along their witnesses\n", "witness");
}

// Shows the progress of the search. Returns false if the search was interrupted.
bool show_progress(ProgressLine& line, const CampaignProgress& progress, const CampaignOptions& options) {
  const double rate = progress.seconds > 0 ? static_cast<double>(progress.runs) / progress.seconds : 0;
  const std::string made = fmt::format("{}, {:.0f} runs/s", counted(progress.runs, "run"), rate);
  line.show(progress_texts(made, counted(progress.failures, "distinct failure"), progress.runs, options.runs,
                           progress.seconds));
  return interruption() == 0;
}

CampaignResult run(const CampaignOptions& options, bool whole) {
  try {
    ProgressLine line;
    return run_campaign(options,
                        [&](const CampaignProgress& progress) { return show_progress(line, progress, options); });
  } catch (const BadInput& error) {
    if (whole) throw;
    throw BadInput(error.what(), kExitTruncated);  // the missing part may be what was truncated
  }
}

// The recording from which explored runs depart: the given one, or a passing run of the given program.
PassingRecording departure(const ExploreArguments& arguments) {
  const std::size_t behind = words_behind_mark(), before = arguments.words.size() - behind;
  REQUIRE(before <= 1, "unexpected argument '{}'", arguments.words[1]);
  if (behind == 0) return {recording_to_read(before == 0 ? "" : arguments.words.front()), true, 0, ""};
  const CampaignOptions& options = arguments.options;
  const ExpectedEndings expected = ExpectedEndings::parse(options.expected.empty() ? "0" : options.expected);
  const PassingRecording recorded = record_passing(arguments.words, expected, options.seconds);
  REQUIRE(!recorded.path.empty(), "interrupted before a run was recorded");
  notice(
      "recorded {}{}", recorded.path,
      recorded.passed ? "" : fmt::format(", which failed ({}): no run of {} passed", recorded.failure, recorded.tries));
  return recorded;
}

int exit_status(const CampaignResult& result, bool whole) {
  if (const int number = interruption(); number != 0) return 128 + number;
  if (reproduced_failures(result) > 0) return kExitFailureFound;
  if (!whole) return kExitTruncated;
  if (!result.suspected.empty()) return kExitSuspected;
  return result.progress.examined() > 0 && !result.races_unseen ? 0 : kExitNotExamined;
}

int explore_fix(const ExploreArguments& arguments, const PassingRecording& recorded) {
  const nlohmann::json report = [&] {
    ProgressLine line;
    return expect_fixed(arguments.expect_fixed, arguments.options, recorded, [&](const CampaignProgress& progress) {
      return show_progress(line, progress, arguments.options);
    });
  }();
  fmt::print("{}", arguments.json ? json_text(report) + "\n" : fix_text(report));
  return fix_status(report);
}

int explore(ExploreArguments& arguments) {
  CampaignOptions& options = arguments.options;
  if (!arguments.campaign.empty()) return explore_unit(arguments.campaign, std::stoull(arguments.unit));
  if (options.strategy == "help") {
    list_strategies();
    return 0;
  }
  REQUIRE(options.strategy == "witness" || find_search(options.strategy) != nullptr,
          "unknown strategy {}; --strategy=help lists them", options.strategy);
  if (options.strategy == "witness") options.runs = 0;
  for (const std::string& text : options.assumptions) parse_assumption(text);
  // The recording may show the failure that is to be prevented, so its own ending is not taken as normal.
  const bool is_about_failure =
      !options.assumptions.empty() || !arguments.expect_fixed.empty() || words_behind_mark() > 0;
  if (is_about_failure && options.expected.empty()) options.expected = "0";
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  const PassingRecording recorded = departure(arguments);
  options.recording = recorded.path;
  const RecordingReader reader(options.recording);
  if (!reader.is_whole())
    fmt::print(stderr, "reweave: {} is truncated; only the part that exists can be explored\n", options.recording);
  if (options.output.empty()) options.output = options.recording + ".explored";
  if (!arguments.candidates.empty()) options.candidates = read_candidates(arguments.candidates);
  if (!arguments.expect_fixed.empty()) return explore_fix(arguments, recorded);
  const CampaignResult result = run(options, reader.is_whole());
  const int status = exit_status(result, reader.is_whole());
  const ExploreReport report{options, result, status, interruption()};
  fmt::print("{}", arguments.json ? explore_json(report) : explore_text(report));
  return status;
}

// The options for one unit of a campaign. They exclude all others, because the campaign's folder has its settings.
void add_unit_options(CLI::App& verb, ExploreArguments& arguments) {
  CLI::Option* campaign = verb.add_option(
      "--campaign", arguments.campaign,
      "make one unit of this folder of `reweave campaign`, unless it is done. Exits 0 when the unit is done, 11 if "
      "it waits for others");
  CLI::Option* unit = verb.add_option("--unit", arguments.unit, "which unit, from 0")
                          ->check(whole_number(0, 1'000'000))
                          ->type_name("K");
  campaign->needs(unit);
  unit->needs(campaign);
  for (CLI::Option* other : verb.get_options())
    if (other != campaign && other != unit && !other->check_lname("help")) campaign->excludes(other);
}

}  // namespace

void add_explore_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ExploreArguments>();
  CampaignOptions& options = arguments->options;
  CLI::App* verb = app.add_subcommand("explore", "search the schedules of a recorded run for one that fails");
  verb->footer(
      "Exits 0 if nothing failed, 10 if a failure was found that replays, 11 if no run could be examined, 6 if nothing "
      "failed and the recording is truncated. Ctrl-C ends the search and keeps what was found; "
      "a second Ctrl-C ends at once and keeps nothing.");
  verb->add_option("recording", arguments->words,
                   "the recording to search from; default: the latest. Or `-- PROGRAM ARGUMENTS`: a passing run is "
                   "recorded first");
  verb->add_option("-o,--output", options.output,
                   "folder to create for failing recordings; default: RECORDING.explored");
  verb->add_option("--candidates", arguments->candidates, "candidates of `reweave predict`, tried first");
  verb->add_option("--runs", options.runs, "runs of the search")->check(whole_number())->capture_default_str();
  verb->add_option("--seconds", options.seconds,
                   "time limit of the search; the run that is under way then is stopped. 0: none")
      ->check(seconds_number())
      ->capture_default_str();
  verb->add_option("--fork-at", options.fork_at,
                   "let runs begin where the program first enters this function, not at main: what happens before is "
                   "not explored, and is not repeated for each run. Other threads begin where they were in the "
                   "recorded run")
      ->excludes("--candidates");
  verb->add_option("--strategy", options.strategy, "how to search; 'help' lists the strategies")->capture_default_str();
  verb->add_option("--seed", options.seed, "seed of the search: the same seed gives the same runs")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_option("--depth", options.depth, "pct: number of ordering constraints that a bug needs")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  verb->add_option("--learned", options.learned,
                   "hapset: file that holds what it has learned; loaded first, saved at the end");
  verb->add_option(
      "--expect-status", options.expected,
      "exit statuses and signals that are normal, such as 0,3,SIGTERM; default: the recorded run's status");
  verb->add_option(
          "--assume", options.assumptions,
          "make only schedules in which this assumption holds, such as the remedy that `explain` names. "
          "'uninterrupted FUNCTION:LINE-LINE': while a thread is between these lines, no other thread "
          "enters them or uses the object that the first line uses. With ' by FUNCTION:LINE' added, no "
          "other thread enters them or executes that line. 'FUNCTION:LINE only after FUNCTION:LINE': the "
          "first line runs only after the second. If a line has several operations, LINE.N names one. May be repeated. "
          "Exit status 0 is then normal, unless --expect-status says otherwise")
      ->type_name("ASSUMPTION")
      ->expected(1)
      ->take_all();
  verb->add_option("--expect-fixed", arguments->expect_fixed,
                   "check whether the failure of this old recording is gone from a new build. Tries first what its "
                   "saved explanation (`explain --save`) names: the order of events that failed, and the old "
                   "schedule as far as it can be followed. Then it searches. Exits 0 if nothing failed, 10 if "
                   "it fails as before or in another way, 11 if that is unknown")
      ->type_name("OLD");
  verb->add_flag("--json", arguments->json, "print the report as JSON (docs/explore-format.md)");
  verb->add_option("--check", options.check,
                   "command that judges each passing run: it reads the run's standard output, and a status other "
                   "than 0 is a failure");
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
      "a data race is a failure, reported as by `record --races`, with TSAN_OPTIONS; each checked run also needs a "
      "trace, so a long search checks its first 100 runs and then one in ten");
  verb->add_flag("--every-access", options.every_access,
                 "let threads be stopped before every access, not only those that may be shared");
  verb->add_flag("--first", options.stop_at_first, "stop at the first failure");
  verb->add_flag("--all-frames", options.all_frames,
                 "also show functions of libraries and test frameworks in the stacks of memory errors");
  add_unit_options(*verb, *arguments);
  verb->callback([arguments, &status] { status = explore(*arguments); });
}

}  // namespace reweave
