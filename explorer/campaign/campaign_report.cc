#include "explorer/campaign/campaign_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "explorer/explain/rate.h"
#include "explorer/searches/search.h"
#include "explorer/words/escaping.h"
#include "formats/base/counted.h"

namespace reweave {

namespace {

void add_reasons(std::vector<std::string>& lines, const Reasons& reasons, const char* what) {
  constexpr std::size_t kMostReasons = 3;
  for (std::size_t i = 0; i < std::min(kMostReasons, reasons.size()); i++)
    lines.push_back(fmt::format("{} {}: {}", reasons[i].second, what, reasons[i].first));
}

// Adds the number of runs, and the reasons why some of them are inconclusive.
void add_runs(std::vector<std::string>& lines, const CampaignResult& result) {
  const CampaignProgress& progress = result.progress;
  const std::size_t failures = reproduced_failures(result), others = result.failures.size() - failures;
  lines.push_back(fmt::format("{} in {:.2f} s ({:.0f} runs/s), {} left the recording, {}",
                              counted(progress.runs, "run"), progress.seconds,
                              progress.seconds > 0 ? static_cast<double>(progress.runs) / progress.seconds : 0,
                              progress.left_recording, counted(failures, "distinct failure")));
  if (others > 0) lines.push_back(counted(others, "more failure") + " did not replay: listed at the end");
  add_reasons(lines, result.left_for, "left it");
  add_reasons(lines, result.not_kept_for, "could not be examined");
  if (progress.unfaithful > 0)
    lines.push_back(fmt::format(
        "{} ended as the recorded order does when it is repeated, although the recorded run passed ({}): the "
        "recording cannot stand for the program's environment, so these runs show nothing about the program",
        progress.unfaithful, result.unfaithful_end));
  if (progress.examined() == 0) lines.push_back("no run could be examined: this says nothing about the program");
}

// Adds the assumptions, and the share of runs that fail under them.
void add_assumed(std::vector<std::string>& lines, const CampaignResult& result, const CampaignOptions& options) {
  for (const std::string& text : options.assumptions) lines.push_back("assumed: " + text);
  lines.push_back("under this " + share_text(result.progress, options.strategy));
  if (const std::uint64_t without = result.progress.not_held; without > 0)
    lines.push_back(fmt::format("{} could not hold it, and {} not counted", counted(without, "more run"),
                                without == 1 ? "is" : "are"));
}

}  // namespace

std::string share_text(const CampaignProgress& progress, const std::string& strategy) {
  const std::uint64_t tried = progress.examined(), failed = progress.failed;
  if (tried == 0) return "no run could be made";
  const std::string share = fmt::format("{} of {} runs fail", failed, tried);
  const SearchRow* row = find_search(strategy);
  const bool draws = row != nullptr && row->draws;
  if (failed == 0)
    return draws ? fmt::format("{} (at most {} of such runs, 95 %)", share, percent_text(most_failing(tried))) : share;
  return fmt::format("{} ({})", share, percent_text(static_cast<double>(failed) / static_cast<double>(tried)));
}

std::size_t reproduced_failures(const CampaignResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.failures.begin(), result.failures.end(), [](const auto& f) { return f.reproduced(); }));
}

std::string suspected_text(const KeptFailure& run) {
  return fmt::format(
      "{}: may fail: it went where no passing run went, and could not be followed to its end: {}; to see where: "
      "reweave replay -g end {}",
      run.path, run.what, shell_word(run.path));
}

std::vector<std::string> summary_of(const CampaignResult& result, const CampaignOptions& options,
                                    std::string_view limit) {
  std::vector<std::string> lines;
  const CampaignProgress& progress = result.progress;
  add_runs(lines, result);
  if (!options.assumptions.empty()) add_assumed(lines, result, options);
  if (result.one_schedule)
    lines.push_back("one schedule: the program starts no thread and no process, so there is nothing to search");
  if (result.gave_up) lines.push_back("the search ended early because none of its runs could be examined");
  if (result.out_of_time) lines.push_back(fmt::format("the search ended because its time was up, {}", limit));
  if (progress.examined() > 0 && !result.saw_accesses && !result.one_schedule)
    lines.push_back(
        "memory accesses were not schedule points: only locks, atomics of libraries and system calls were reordered; "
        "build with reweave-cc or -fsanitize=thread to reorder accesses as well");
  if (options.races && result.races_unseen)
    lines.push_back(
        "--races sees no memory accesses, so nothing is known about races: build with reweave-cc or -fsanitize=thread");
  else if (options.races)
    lines.push_back(fmt::format("{} of the runs were checked for races", result.looked_at_for_races));
  if (!result.expected.empty())
    lines.push_back(fmt::format("taken as normal: {}{}", result.expected,
                                options.expected.empty() ? ", as recorded (--expect-status says otherwise)" : ""));
  if (const std::uint64_t full = progress.runs - progress.quiet_runs; progress.quiet_runs > 0 && full > 0)
    lines.push_back(fmt::format("{} watched only what threads share: {:.2f} ms each; the others {:.2f} ms",
                                counted(progress.quiet_runs, "run"),
                                1e3 * progress.quiet_seconds / static_cast<double>(progress.quiet_runs),
                                1e3 * progress.full_seconds / static_cast<double>(full)));
  if (!result.prediction.empty()) lines.push_back(result.prediction);
  if (!result.report.empty()) lines.push_back(fmt::format("{}: {}", options.strategy, result.report));
  return lines;
}

std::string details_of(const KeptFailure& failure, std::string_view limits) {
  std::string text = fmt::format("  found by {} in run {}, {}", failure.how, failure.found_at,
                                 counted(failure.preemptions, "preemption"));
  if (failure.replays > 0)
    text += fmt::format(", {} of {} replays failed the same way", failure.verified, failure.replays);
  text += failure.count > 1 ? fmt::format(", {} runs failed like this\n", failure.count) : "\n";
  if (!failure.minimal)
    text += fmt::format("  the schedule may not be minimal: its minimisation ran out of runs or time ({})\n", limits);
  if (!failure.last_words.empty()) text += fmt::format("  {}\n", failure.last_words);
  // If the cause was shown, only story.txt describes the whole schedule.
  if (!failure.cause.empty())
    text += fmt::format("  The cause: {}", failure.cause);
  else if (!failure.story.empty())
    text += fmt::format("  {}{}{}\n", failure.story, failure.ending.empty() ? "" : " ", failure.ending);
  if (!failure.stacks.empty()) text += fmt::format("  {}\n", failure.stacks);
  return text;
}

}  // namespace reweave
