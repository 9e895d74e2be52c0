#include "explorer/explore_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <limits>
#include <memory>

#include "explorer/campaign.h"
#include "explorer/searches/search.h"
#include "formats/error.h"
#include "formats/number_check.h"
#include "formats/recording_reader.h"
#include "recorder/supervisor/recordings.h"

namespace reweave {

namespace {

std::atomic<bool> interrupted;
// The second time does not wait for the run that is being made.
void on_interrupt(int number) {
  if (!interrupted.exchange(true)) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

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
  return !interrupted.load();
}

void print_verdicts(const CampaignResult& result) {
  for (const CandidateVerdict& verdict : result.verdicts)
    fmt::print("candidate {} ({}): {}; {}\n", verdict.number, name_of(verdict.kind), verdict.how,
               verdict.failed ? "the run failed: " + verdict.outcome : "the run " + verdict.outcome);
}

std::size_t reproduced(const CampaignResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.failures.begin(), result.failures.end(), [](const auto& f) { return f.reproduced(); }));
}

const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

void print_reasons(const Reasons& reasons, const char* what) {
  constexpr std::size_t kMostReasons = 3;
  for (std::size_t i = 0; i < std::min(kMostReasons, reasons.size()); i++)
    fmt::print("{} {}: {}\n", reasons[i].second, what, reasons[i].first);
}

// What was searched, and what was not.
void print_summary(const CampaignResult& result, const CampaignOptions& options) {
  const CampaignProgress& progress = result.progress;
  const std::size_t failures = reproduced(result), others = result.failures.size() - failures;
  fmt::print("{} runs in {:.2f} s ({:.0f} runs/s), {} left the recording, {} distinct failure{}\n", progress.runs,
             progress.seconds, progress.seconds > 0 ? static_cast<double>(progress.runs) / progress.seconds : 0,
             progress.left_recording, failures, plural(failures));
  if (others > 0) fmt::print("{} more failure{} did not replay: listed at the end\n", others, plural(others));
  print_reasons(result.left_for, "left it");
  print_reasons(result.not_kept_for, "could not be examined");
  if (progress.unfaithful > 0)
    fmt::print(
        "{} ended as the recorded order does when it is repeated, though the recorded run passed ({}): the "
        "recording cannot answer for what the program did with its surroundings, and these runs tell nothing\n",
        progress.unfaithful, result.unfaithful_end);
  if (progress.examined() == 0) fmt::print("no run could be examined: this says nothing about the program\n");
  if (result.gave_up) fmt::print("the search ended early, for none of its runs could be examined\n");
  if (result.out_of_time) fmt::print("the search ended with its time, --seconds {}\n", options.seconds);
  if (progress.examined() > 0 && !result.saw_accesses)
    fmt::print(
        "memory accesses were not schedule points: only locks, atomics of libraries and system calls were reordered; "
        "build with -fsanitize=thread to search the accesses, too\n");
  if (options.races && result.races_unseen)
    fmt::print("--races sees no memory accesses, so nothing is known of races: build with -fsanitize=thread\n");
  else if (options.races)
    fmt::print("{} of the runs were looked at for races\n", result.looked_at_for_races);
  if (!result.expected.empty())
    fmt::print("taken as normal: {}{}\n", result.expected,
               options.expected.empty() ? ", as recorded (--expect-status says otherwise)" : "");
  if (const std::uint64_t full = progress.runs - progress.quiet_runs; progress.quiet_runs > 0 && full > 0)
    fmt::print("{} runs watched only what threads share: {:.2f} ms each; the others {:.2f} ms\n", progress.quiet_runs,
               1e3 * progress.quiet_seconds / static_cast<double>(progress.quiet_runs),
               1e3 * progress.full_seconds / static_cast<double>(full));
  if (!result.prediction.empty()) fmt::print("{}\n", result.prediction);
  if (!result.report.empty()) fmt::print("{}: {}\n", options.strategy, result.report);
}

void print_failure(const KeptFailure& failure) {
  fmt::print("{}: {}\n  found by {} in run {}, {} preemption{}", failure.path, failure.what, failure.how,
             failure.found_at, failure.preemptions, plural(failure.preemptions));
  if (failure.replays > 0) fmt::print(", {} of {} replays failed the same way", failure.verified, failure.replays);
  fmt::print("{}\n", failure.count > 1 ? fmt::format(", {} runs failed like this", failure.count) : "");
  if (!failure.minimal)
    fmt::print(
        "  the schedule may not be minimal: the runs or the time for that were used up (--minimise, --seconds)\n");
  if (!failure.last_words.empty()) fmt::print("  {}\n", failure.last_words);
  if (!failure.cause.empty()) fmt::print("  The cause: {}", failure.cause);
  if (!failure.story.empty())
    fmt::print("  {}{}{}\n", failure.story, failure.ending.empty() ? "" : " ", failure.ending);
  if (!failure.stacks.empty()) fmt::print("  {}\n", failure.stacks);
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
  std::signal(SIGINT, on_interrupt);
  const CampaignResult result = run(options, reader.is_whole());
  if (isatty(2) != 0) fmt::print(stderr, "\r\033[K");
  print_verdicts(result);
  print_summary(result, options);
  for (const KeptFailure& failure : result.failures)
    if (failure.reproduced()) print_failure(failure);
  for (const KeptFailure& failure : result.failures)
    if (!failure.reproduced())
      fmt::print("not reproduced, {} of {} replays: {}: {}\n  found by {} in run {}\n", failure.verified,
                 failure.replays, failure.path, failure.what, failure.how, failure.found_at);
  if (reproduced(result) > 0) return kExitFailureFound;
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
