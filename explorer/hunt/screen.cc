// The text shown at the end of a hunt.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "explorer/hunt/reports.h"
#include "explorer/hunt/words.h"
#include "explorer/words/escaping.h"
#include "formats/base/counted.h"

namespace reweave {

namespace {

std::string failures_of(const TargetHunt& hunt, const std::string& folder, bool is_one) {
  std::string text;
  for (const HuntFailure& failure : hunt.failures) {
    if (!failure.kept.reproduced()) continue;
    text += fmt::format("{}: {}{}\n{}", recording_of(hunt, failure, folder), is_one ? "" : hunt.target.name + ": ",
                        failure.kept.what, failure_text(failure));
  }
  return text;
}

// The user's next steps with a failure.
std::string next_steps(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder) {
  const std::string recording = recording_of(hunt, failure, folder), report = recording + "/" + kReportFile;
  std::string text = "to see why it fails:\n";
  if (std::filesystem::exists(report)) text += "  " + shell_word(report) + " in a browser, or\n";
  text += "  reweave explain " + shell_word(recording) + "\n";
  return text + "to open gdb where it fails:\n  " + replay_command(hunt, failure, folder) + "\n";
}

// Text about the search for one target, and its limits.
std::string searched(const TargetHunt& hunt, bool is_one) {
  std::string text = is_one ? searched_text(hunt) : "";
  if (!is_one) {
    text = fmt::format("{}: {}", hunt.target.name, short_verdict(hunt));
    text += hunt.runs() > 0 ? ", " + counted(hunt.runs(), "run") + "\n" : "\n";
  }
  if (!hunt.problem.empty()) text += fmt::format("  {}\n", hunt.problem);
  if (!hunt.has_lines) text += "  the program has no debug information, so no lines are named: build it with -g\n";
  return text;
}

// Each piece of advice once, even if it applies to several targets.
std::string advice_of(const HuntResult& result) {
  std::vector<std::string> all;
  for (const TargetHunt& hunt : result.targets) {
    if (hunt.found()) continue;
    for (const std::string& line : advice_for(hunt))
      if (std::ranges::find(all, line) == all.end()) all.push_back(line);
  }
  std::string text;
  for (const std::string& line : all) text += "  " + line + "\n";
  return text.empty() ? "" : "what would see more:\n" + text;
}

}  // namespace

std::string screen_report(const HuntResult& result, const std::string& folder, const std::string& resume) {
  const bool is_one = result.targets.size() == 1;
  std::string text = verdict_of(result) + "\n";
  for (const TargetHunt& hunt : result.targets) text += searched(hunt, is_one);
  for (const TargetHunt& hunt : result.targets) text += failures_of(hunt, folder, is_one);
  if (result.interrupted != 0) text += "interrupted; everything done so far is kept\n";
  const auto [hunt, failure] = first_failure(result);
  if (hunt == nullptr) text += advice_of(result);
  text += fmt::format("kept in {}: the recordings, summary.md, junit.xml, report.sarif, {}\n", folder, kHuntFile);
  if (hunt == nullptr) return plain_text(text + "to continue:\n") + "  " + resume + "\n";
  return plain_text(text) + next_steps(*hunt, *failure, folder);
}

}  // namespace reweave
