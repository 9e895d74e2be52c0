#include "explorer/campaigns/merge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "explorer/run/interruption.h"
#include "explorer/words/escaping.h"
#include "formats/base/error.h"
#include "formats/base/progress_line.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// Repeats the failing runs, or else the suspected ones, in one campaign, which judges and minimises them, keeps one
// recording of each bug and replays it. The result depends only on the runs and their order.
void make_again(const CampaignFolder& campaign, std::uint64_t case_index, const std::string& output,
                const MergeOptions& options, MergedCase& merged) {
  const CampaignPlan& plan = campaign.plan();
  CampaignOptions again;
  again.recording = campaign.recording(case_index);
  again.output = output;
  again.parent = plan.cases[case_index].recording;
  again.strategy = plan.strategy;
  again.expected = plan.expected;
  again.fork_at = plan.fork_at;
  again.races = plan.races;
  again.jobs = options.jobs;
  again.verifications = options.verifications;
  again.minimise_runs = options.minimise_runs;
  again.depends_on_time = false;
  again.again = &merged.findings.failures;
  again.suspects_again = &merged.findings.suspects;
  CampaignResult result = run_campaign(again, [](const CampaignProgress&) { return interruption() == 0; });
  const auto take = [&](std::vector<KeptFailure>& from, std::vector<KeptFailure>& to) {
    for (KeptFailure& run : from) {
      run.path = fs::path(run.path).lexically_relative(fs::path(output).parent_path().parent_path()).string();
      to.push_back(std::move(run));
    }
  };
  take(result.failures, merged.failures);
  take(result.suspected, merged.suspected);
  for (const std::size_t index : result.missed) {
    const FoundFailure& failure = merged.findings.failures[index];
    merged.not_again.push_back(fmt::format("{}: {}", failure.how, describe_outcome(failure.end)));
  }
}

std::vector<MergedCause> causes_of(const std::vector<MergedCase>& cases) {
  std::map<std::tuple<std::string, std::string, std::size_t>, MergedCause> causes;
  for (std::size_t i = 0; i < cases.size(); i++)
    for (std::size_t k = 0; k < cases[i].failures.size(); k++) {
      const KeptFailure& failure = cases[i].failures[k];
      if (!failure.reproduced()) continue;
      // Without function names, bugs of two cases cannot be compared.
      const bool is_known = !failure.functions.empty();
      const std::string what = failure.what.substr(0, failure.what.find('\n'));
      MergedCause& cause = causes[{is_known ? "" : what, failure.functions, is_known ? 0 : i + 1}];
      if (cause.places.empty()) cause.what = what;
      cause.functions = failure.functions;
      cause.runs += failure.count;
      cause.places.push_back({i, k});
    }
  std::vector<MergedCause> list;
  for (auto& [key, cause] : causes) list.push_back(std::move(cause));
  std::ranges::stable_sort(list, std::greater<>(), &MergedCause::runs);
  return list;
}

}  // namespace

std::uint64_t Merged::missing() const {
  std::uint64_t missing = 0;
  for (const MergedCase& one : cases) missing += one.findings.units - one.findings.done;
  return missing;
}

bool Merged::is_examined() const {
  return std::ranges::any_of(cases, [](const MergedCase& one) { return one.findings.examined > 0; });
}

bool Merged::suspects() const {
  return std::ranges::any_of(cases, [](const MergedCase& one) { return !one.suspected.empty(); });
}

Merged merge(const CampaignFolder& campaign, const std::string& output, const MergeOptions& options) {
  const CampaignPlan& plan = campaign.plan();
  Merged merged;
  const ResultNames names(campaign);
  ProgressLine progress;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < plan.cases.size() && interruption() == 0; i++) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.show(progress_texts("merging", one_line(plan.cases[i].name), i, plan.cases.size(), seconds));
    MergedCase& one = merged.cases.emplace_back();
    one.name = plan.cases[i].name;
    one.findings = collect(campaign, names, i);
    if (!one.findings.failures.empty() || !one.findings.suspects.empty())
      make_again(campaign, i, (fs::path(output) / "cases" / case_folder(i)).string(), options, one);
    one.findings.failures.clear();
    one.findings.suspects.clear();
  }
  merged.interrupted = interruption();
  merged.causes = causes_of(merged.cases);
  return merged;
}

}  // namespace reweave
