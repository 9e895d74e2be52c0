#include "explorer/campaigns/merged_reports.h"

#include <algorithm>
#include <filesystem>

#include "explorer/campaign/campaign_report.h"
#include "explorer/campaign/failure_json.h"
#include "explorer/campaigns/json_fields.h"
#include "explorer/words/escaping.h"
#include "formats/base/counted.h"
#include "formats/base/json_text.h"

namespace reweave {

using nlohmann::json;

namespace {

constexpr std::size_t kMostShown = 50;  // cases without kept recordings that text and Markdown name

json case_json(const MergedCase& one) {
  const CaseFindings& findings = one.findings;
  json result = {{"name", one.name},
                 {"units", findings.units},
                 {"done", findings.done},
                 {"partial", findings.partial},
                 {"runs", findings.runs},
                 {"examined", findings.examined},
                 {"accesses", findings.saw_accesses},
                 {"gave_up", findings.gave_up},
                 {"problem", findings.problem.empty() ? json() : json(findings.problem)},
                 {"left_for", findings.left_for},
                 {"left_out", findings.left_out},
                 {"failures", json::array()},
                 {"suspected", json::array()},
                 {"not_again", one.not_again}};
  const auto add = [&](const char* list, const KeptFailure& run) {
    json entry = failure_json(run);
    entry.erase("run");  // `how` has the unit and the run
    result[list].push_back(entry);
  };
  for (const KeptFailure& failure : one.failures) add("failures", failure);
  for (const KeptFailure& run : one.suspected) add("suspected", run);
  return result;
}

std::string replay_line(const KeptFailure& failure, const std::string& folder) {
  return shell_command({"reweave", "replay", "-g", "end", (std::filesystem::path(folder) / failure.path).string()});
}

KeptFailure in_folder(KeptFailure run, const std::string& folder) {
  run.path = (std::filesystem::path(folder) / run.path).string();
  return run;
}

bool has_recordings(const MergedCase& one) { return !one.failures.empty() || !one.suspected.empty(); }

// True if the reports have something to say about the case.
bool is_remarkable(const MergedCase& one) { return has_page(one) || !remark_of(one.findings).empty(); }

std::string case_text(const MergedCase& one, const std::string& folder) {
  std::string text;
  const CaseFindings& findings = one.findings;
  text += fmt::format("{}: {} of {}, {}\n", one.name, findings.done, counted(findings.units, "unit"),
                      counted(findings.runs, "run"));
  if (const std::string remark = remark_of(findings); !remark.empty()) text += "  " + remark + "\n";
  for (const KeptFailure& failure : one.failures)
    text += fmt::format("  {}{}\n  {}\n{}", failure.reproduced() ? "" : "not reproduced: ", failure.what,
                        replay_line(failure, folder), details_of(failure, "--minimise"));
  for (const KeptFailure& run : one.suspected) text += "  " + suspected_text(in_folder(run, folder)) + "\n";
  for (const std::string& failure : one.not_again) text += "  did not fail again: " + failure + "\n";
  return text;
}

}  // namespace

std::string remark_of(const CaseFindings& findings) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!findings.problem.empty()) add("could not be searched: " + findings.problem);
  if (findings.done < findings.units)
    add(fmt::format("{} of {} missing{}", findings.units - findings.done, counted(findings.units, "unit"),
                    findings.partial > 0 ? fmt::format(", {} of them in part", findings.partial) : ""));
  if (findings.runs > 0 && findings.examined == 0)
    add("no run could be examined: " + findings.left_for);
  else if (findings.examined > 0 && !findings.saw_accesses)
    add("memory accesses were not schedule points: build with reweave-cc or -fsanitize=thread to search them as well");
  if (findings.left_out > 0)
    add(fmt::format("{} failing runs that ended in still other ways were not examined", findings.left_out));
  return text;
}

std::string merged_verdict(const Merged& merged) {
  std::uint64_t failing = 0, done = 0, units = 0, runs = 0;
  for (const MergedCase& one : merged.cases) {
    failing += std::ranges::any_of(one.failures, &KeptFailure::reproduced) ? 1 : 0;
    done += one.findings.done;
    units += one.findings.units;
    runs += one.findings.runs;
  }
  const std::string made = fmt::format("{} of {}, {}", done, counted(units, "unit"), counted(runs, "run"));
  if (merged.causes.empty() && !merged.is_examined()) return "no run could be examined; " + made;
  if (merged.causes.empty() && merged.suspects())
    return "no failure found, but runs that may fail could not be followed to their end; " + made;
  if (merged.causes.empty()) return "no failure found, which does not prove that there is none; " + made;
  return fmt::format("{} of failures in {} of {}; {}", counted(merged.causes.size(), "cause"), failing,
                     counted(merged.cases.size(), "recording"), made);
}

std::string merged_json(const Merged& merged) {
  json whole = {{"format", "reweave-merged"}, {"version", 1},
                {"reweave", REWEAVE_VERSION}, {"complete", merged.missing() == 0 && merged.interrupted == 0},
                {"cases", json::array()},     {"causes", json::array()}};
  for (const MergedCase& one : merged.cases) whole["cases"].push_back(case_json(one));
  for (const MergedCause& cause : merged.causes) {
    json entry = {
        {"what", cause.what}, {"functions", cause.functions}, {"runs", cause.runs}, {"failures", json::array()}};
    for (const auto& [case_index, failure] : cause.places)
      entry["failures"].push_back(
          {{"case", merged.cases[case_index].name}, {"recording", merged.cases[case_index].failures[failure].path}});
    whole["causes"].push_back(entry);
  }
  return json_text(whole, 1) + "\n";
}

std::string merged_text(const Merged& merged, const std::string& folder) {
  std::string text = merged_verdict(merged) + "\n";
  for (const MergedCause& cause : merged.causes)
    text += fmt::format("{} in {}: {}{}\n", counted(cause.runs, "run"), counted(cause.places.size(), "recording"),
                        cause.what, cause.functions.empty() ? "" : " (" + cause.functions + ")");
  std::size_t shown = 0, left = 0;
  for (const MergedCase& one : merged.cases) {
    if (!is_remarkable(one)) continue;
    if (!has_recordings(one) && ++shown > kMostShown)
      left++;
    else
      text += case_text(one, folder);
  }
  if (left > 0) text += fmt::format("{} more are described in failures.json\n", left);
  double wall = 0, cpu = 0;
  for (const MergedCase& one : merged.cases) wall += one.findings.wall, cpu += one.findings.cpu;
  text += fmt::format("the finished units took {:.1f} s in all, {:.1f} s of processor time\n", wall, cpu);
  if (merged.interrupted != 0) text += "interrupted: cases at the end were left out\n";
  return plain_text(text);
}

std::string merged_markdown(const Merged& merged, const std::string& folder) {
  std::string text = fmt::format("## reweave campaign: {}\n\n", markdown_text(merged_verdict(merged)));
  if (!merged.causes.empty()) text += "| cause | in | runs | recordings |\n|---|---|---|---|\n";
  for (const MergedCause& cause : merged.causes)
    text += fmt::format("| {} | {} | {} | {} |\n", markdown_text(cause.what), markdown_text(cause.functions),
                        cause.runs, cause.places.size());
  text += "\n";
  std::size_t shown = 0, left = 0;
  for (const MergedCase& one : merged.cases) {
    if (!is_remarkable(one)) continue;
    if (!has_recordings(one) && ++shown > kMostShown) {
      left++;
      continue;
    }
    text += fmt::format("### {}\n\n", markdown_text(one.name));
    if (const std::string remark = remark_of(one.findings); !remark.empty()) text += markdown_text(remark) + "\n\n";
    for (const KeptFailure& failure : one.failures)
      text += fmt::format("{}\n\n{}\n", markdown_text(one_line(failure.what)),
                          markdown_block(details_of(failure, "--minimise") + replay_line(failure, folder)));
    for (const KeptFailure& run : one.suspected)
      text += markdown_text(one_line(suspected_text(in_folder(run, folder)))) + "\n\n";
  }
  if (left > 0) text += fmt::format("{} more in failures.json\n", left);
  return text;
}

}  // namespace reweave
