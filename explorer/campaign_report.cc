#include "explorer/campaign_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace reweave {

namespace {

const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

void add_reasons(std::vector<std::string>& lines, const Reasons& reasons, const char* what) {
  constexpr std::size_t kMostReasons = 3;
  for (std::size_t i = 0; i < std::min(kMostReasons, reasons.size()); i++)
    lines.push_back(fmt::format("{} {}: {}", reasons[i].second, what, reasons[i].first));
}

// The runs, and why some of them say nothing.
void add_runs(std::vector<std::string>& lines, const CampaignResult& result) {
  const CampaignProgress& progress = result.progress;
  const std::size_t failures = reproduced_failures(result), others = result.failures.size() - failures;
  lines.push_back(fmt::format("{} runs in {:.2f} s ({:.0f} runs/s), {} left the recording, {} distinct failure{}",
                              progress.runs, progress.seconds,
                              progress.seconds > 0 ? static_cast<double>(progress.runs) / progress.seconds : 0,
                              progress.left_recording, failures, plural(failures)));
  if (others > 0)
    lines.push_back(fmt::format("{} more failure{} did not replay: listed at the end", others, plural(others)));
  add_reasons(lines, result.left_for, "left it");
  add_reasons(lines, result.not_kept_for, "could not be examined");
  if (progress.unfaithful > 0)
    lines.push_back(
        fmt::format("{} ended as the recorded order does when it is repeated, though the recorded run passed ({}): the "
                    "recording cannot answer for what the program did with its surroundings, and these runs tell "
                    "nothing",
                    progress.unfaithful, result.unfaithful_end));
  if (progress.examined() == 0) lines.push_back("no run could be examined: this says nothing about the program");
}

}  // namespace

std::size_t reproduced_failures(const CampaignResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.failures.begin(), result.failures.end(), [](const auto& f) { return f.reproduced(); }));
}

std::vector<std::string> summary_of(const CampaignResult& result, const CampaignOptions& options,
                                    std::string_view limit) {
  std::vector<std::string> lines;
  const CampaignProgress& progress = result.progress;
  add_runs(lines, result);
  if (result.gave_up) lines.push_back("the search ended early, for none of its runs could be examined");
  if (result.out_of_time) lines.push_back(fmt::format("the search ended with its time, {}", limit));
  if (progress.examined() > 0 && !result.saw_accesses)
    lines.push_back(
        "memory accesses were not schedule points: only locks, atomics of libraries and system calls were reordered; "
        "build with -fsanitize=thread to search the accesses, too");
  if (options.races && result.races_unseen)
    lines.push_back("--races sees no memory accesses, so nothing is known of races: build with -fsanitize=thread");
  else if (options.races)
    lines.push_back(fmt::format("{} of the runs were looked at for races", result.looked_at_for_races));
  if (!result.expected.empty())
    lines.push_back(fmt::format("taken as normal: {}{}", result.expected,
                                options.expected.empty() ? ", as recorded (--expect-status says otherwise)" : ""));
  if (const std::uint64_t full = progress.runs - progress.quiet_runs; progress.quiet_runs > 0 && full > 0)
    lines.push_back(fmt::format("{} runs watched only what threads share: {:.2f} ms each; the others {:.2f} ms",
                                progress.quiet_runs,
                                1e3 * progress.quiet_seconds / static_cast<double>(progress.quiet_runs),
                                1e3 * progress.full_seconds / static_cast<double>(full)));
  if (!result.prediction.empty()) lines.push_back(result.prediction);
  if (!result.report.empty()) lines.push_back(fmt::format("{}: {}", options.strategy, result.report));
  return lines;
}

std::string details_of(const KeptFailure& failure, std::string_view limits) {
  std::string text = fmt::format("  found by {} in run {}, {} preemption{}", failure.how, failure.found_at,
                                 failure.preemptions, plural(failure.preemptions));
  if (failure.replays > 0)
    text += fmt::format(", {} of {} replays failed the same way", failure.verified, failure.replays);
  text += failure.count > 1 ? fmt::format(", {} runs failed like this\n", failure.count) : "\n";
  if (!failure.minimal)
    text += fmt::format("  the schedule may not be minimal: the runs or the time for that were used up ({})\n", limits);
  if (!failure.last_words.empty()) text += fmt::format("  {}\n", failure.last_words);
  if (!failure.cause.empty()) text += fmt::format("  The cause: {}", failure.cause);
  if (!failure.story.empty())
    text += fmt::format("  {}{}{}\n", failure.story, failure.ending.empty() ? "" : " ", failure.ending);
  if (!failure.stacks.empty()) text += fmt::format("  {}\n", failure.stacks);
  return text;
}

}  // namespace reweave
