#include "explorer/hunt/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "explorer/campaign/campaign_report.h"
#include "formats/base/counted.h"

namespace reweave {

namespace {

std::string recorded_text(const KeptFailure& kept) {
  const std::string why = kept.how.empty() ? "without any search" : "under " + kept.how;
  std::string text = fmt::format("  failed in recorded run {}, {}; {} of {} replays failed the same way\n",
                                 kept.found_at, why, kept.verified, kept.replays);
  if (!kept.last_words.empty()) text += "  " + kept.last_words + "\n";
  return kept.cause.empty() ? text : text + "  The cause: " + kept.cause;
}

}  // namespace

std::string verdict_of(const HuntResult& result) {
  if (result.targets.size() == 1) {
    const TargetHunt& hunt = result.targets.front();
    return fmt::format("{}: {}", hunt.target.name, short_verdict(hunt));
  }
  const auto failing = std::ranges::count_if(result.targets, &TargetHunt::found);
  const auto searched =
      std::ranges::count_if(result.targets, [](const TargetHunt& hunt) { return hunt.found() || hunt.examined() > 0; });
  const auto unchanged =
      std::ranges::count_if(result.targets, [](const TargetHunt& hunt) { return !hunt.unchanged_since.empty(); });
  return fmt::format("{} of {} tests fail{}, {} could be searched{}", failing, result.targets.size(),
                     failing == 1 ? "s" : "", searched,
                     unchanged == 0 ? "" : fmt::format(", {} left out because unchanged", unchanged));
}

std::string short_verdict(const TargetHunt& hunt) {
  if (hunt.found()) {
    const auto failures =
        std::ranges::count_if(hunt.failures, [](const HuntFailure& failure) { return failure.kept.reproduced(); });
    return failures == 1 ? "a failure that replays" : fmt::format("{} failures that replay", failures);
  }
  if (!hunt.unchanged_since.empty())
    return fmt::format("not searched again: unchanged since {}, when {} found no failure", hunt.unchanged_since,
                       counted(hunt.earlier_runs, "run"));
  if (hunt.suspects()) return "no failure found, but runs that may fail could not be followed to their end";
  if (hunt.examined() > 0) return "no failure found, which does not prove that there is none";
  return "not examined";
}

std::string headline_of(const HuntFailure& failure) {
  const std::string place = failure.file.empty() ? "" : fmt::format(" ({}:{})", failure.file, failure.line);
  return failure.kept.what + place;
}

std::string failure_text(const HuntFailure& failure) {
  return failure.recorded ? recorded_text(failure.kept) : details_of(failure.kept, "--for");
}

std::string searched_text(const TargetHunt& hunt) {
  std::string text = counted(hunt.recorded, "run") + " recorded\n";
  for (const HuntSearch& search : hunt.searches) {
    text += fmt::format("search {}, seed {}:\n", search.strategy, search.seed);
    for (const std::string& line : search.summary) text += "  " + line + "\n";
    for (const std::string& line : search.suspected) text += "  " + line + "\n";
  }
  for (const HuntFailure& failure : hunt.failures)
    if (!failure.kept.reproduced())
      text += fmt::format("not reproduced, {} of {} replays: {}: {}\n", failure.kept.verified, failure.kept.replays,
                          failure.kept.path, failure.kept.what);
  return text;
}

std::vector<std::string> advice_for(const TargetHunt& hunt) {
  std::vector<std::string> advice;
  if (std::ranges::any_of(hunt.searches, &HuntSearch::one_schedule)) return {};  // no advice would help
  const bool saw_accesses = std::ranges::any_of(hunt.searches, &HuntSearch::saw_accesses);
  const bool is_chaos =
      std::ranges::any_of(hunt.searches, [](const auto& search) { return search.strategy == "chaos"; });
  if (is_chaos)
    advice.push_back(
        "hunt the failing program itself, not the command that starts it: a search cannot follow everything that "
        "processes do");
  else if (!saw_accesses && hunt.examined() > 0)
    advice.push_back("a build with reweave-cc or -fsanitize=thread, in which each memory access is a schedule point");
  if (hunt.examined() > 0) advice.push_back("more time (--for 30m): the hunt continues with other seeds");
  return advice;
}

}  // namespace reweave
