// The text shown at the end of a hunt.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "explorer/escaping.h"
#include "explorer/hunt/reports.h"
#include "explorer/hunt/words.h"
#include "formats/counted.h"

namespace reweave {

namespace {

std::string failures_of(const TargetHunt& hunt, const std::string& folder, bool is_one) {
  std::string text;
  for (const HuntFailure& failure : hunt.failures) {
    if (!failure.kept.reproduced()) continue;
    const std::string recording =
        fmt::format("{}/{}{}", folder, hunt.folder.empty() ? "" : hunt.folder + "/", failure.kept.path);
    text += fmt::format("{}: {}{}\n{}", recording, is_one ? "" : hunt.target.name + ": ", failure.kept.what,
                        failure_text(failure));
    const std::string report = recording + "/" + kReportFile;
    text += std::filesystem::exists(report) ? fmt::format("  for a browser: {}\n", report) : "";
  }
  return text;
}

// What was searched for one target, and what was not.
std::string searched(const TargetHunt& hunt, bool is_one) {
  std::string text = is_one ? searched_text(hunt) : "";
  if (!is_one) {
    text = fmt::format("{}: {}", hunt.target.name, short_verdict(hunt));
    text += hunt.runs() > 0 ? ", " + counted(hunt.runs(), "run") + "\n" : "\n";
  }
  if (!hunt.problem.empty()) text += fmt::format("  {}\n", hunt.problem);
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
  if (result.interrupted != 0) text += "interrupted; what was done until then is kept\n";
  const auto [hunt, failure] = first_failure(result);
  if (hunt == nullptr) text += advice_of(result);
  text += fmt::format("kept in {}: the recordings, summary.md, junit.xml, report.sarif, {}\n", folder, kHuntFile);
  if (hunt == nullptr) return plain_text(text + "to go on:\n") + "  " + resume + "\n";
  return plain_text(text + "to open gdb where it fails:\n") + "  " + replay_command(*hunt, *failure, folder) + "\n";
}

}  // namespace reweave
