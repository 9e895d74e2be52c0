#include "explorer/hunt/reports.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "explorer/hunt/words.h"
#include "explorer/words/escaping.h"
#include "formats/base/json_text.h"
#include "formats/base/sarif.h"
#include "formats/base/uri.h"

namespace reweave {

namespace {

using nlohmann::json;

// Why the target's result is not known; empty if it is.
std::string error_of(const TargetHunt& hunt) {
  if (hunt.found()) return "";
  return hunt.problem.empty() && hunt.suspects() ? short_verdict(hunt) : hunt.problem;
}

std::string junit_case(const TargetHunt& hunt, const std::string& folder) {
  double seconds = 0;
  for (const HuntSearch& search : hunt.searches) seconds += search.seconds;
  std::string text = fmt::format("    <testcase classname=\"reweave.hunt\" name=\"{}\" time=\"{:.3f}\">\n",
                                 xml_text(one_line(hunt.target.name)), seconds);
  for (const HuntFailure& failure : hunt.failures) {
    if (!failure.kept.reproduced()) continue;
    text += fmt::format("      <failure message=\"{}\">{}</failure>\n", xml_text(one_line(headline_of(failure))),
                        xml_text(failure_text(failure) + "\n" + replay_command(hunt, failure, folder) + "\n"));
  }
  if (const std::string error = error_of(hunt); !error.empty())
    text += fmt::format("      <error message=\"{}\"/>\n", xml_text(one_line(error)));
  if (!hunt.unchanged_since.empty())
    text += fmt::format("      <skipped message=\"{}\"/>\n", xml_text(one_line(short_verdict(hunt))));
  text += fmt::format("      <system-out>{}</system-out>\n    </testcase>\n", xml_text(searched_text(hunt)));
  return text;
}

// The same for the same failure in later hunts.
std::string fingerprint_of(const TargetHunt& hunt, const HuntFailure& failure) {
  return fmt::format("{} {} {}:{}", hunt.target.name, failure.kept.what, failure.file, failure.line);
}

json sarif_result(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder) {
  const std::string message = fmt::format("{}: {}\n{}\n{}", hunt.target.name, headline_of(failure),
                                          failure_text(failure), replay_command(hunt, failure, folder));
  json result = {{"ruleId", "failing-schedule"},
                 {"ruleIndex", 0},
                 {"level", "error"},
                 {"message", {{"text", message}}},
                 {"occurrenceCount", failure.kept.count}};
  if (!failure.flows.empty()) result["codeFlows"] = json::parse(failure.flows);
  if (failure.file.empty()) return result;
  const json place = {{"artifactLocation", {{"uri", uri_of(failure.file)}}},
                      {"region", {{"startLine", std::max(failure.line, 1u)}}}};
  result["locations"] = json::array({{{"physicalLocation", place}}});
  result["partialFingerprints"] = {{"reweave/v1", fingerprint_of(hunt, failure)}};
  return result;
}

std::string markdown_target(const TargetHunt& hunt, const std::string& folder) {
  std::string text = fmt::format("### {}\n\n{}\n\n", markdown_text(hunt.target.name),
                                 markdown_code(shell_command(hunt.target.command)));
  for (const HuntFailure& failure : hunt.failures) {
    if (!failure.kept.reproduced()) continue;
    text += fmt::format("**{}**\n\n{}\nReplay it in gdb:\n\n{}\n", markdown_text(headline_of(failure)),
                        markdown_block(failure_text(failure)), markdown_block(replay_command(hunt, failure, folder)));
  }
  if (!hunt.problem.empty()) text += "Not searched, or not to the end: " + markdown_text(hunt.problem) + "\n\n";
  return text + "<details><summary>What was searched</summary>\n\n" + markdown_block(searched_text(hunt)) +
         "\n</details>\n\n";
}

}  // namespace

std::string recording_of(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder) {
  return fmt::format("{}/{}{}", folder, hunt.folder.empty() ? "" : hunt.folder + "/", failure.kept.path);
}

std::string replay_command(const TargetHunt& hunt, const HuntFailure& failure, const std::string& folder) {
  return "reweave replay -g end " + shell_word(recording_of(hunt, failure, folder)) + " --backward";
}

std::pair<const TargetHunt*, const HuntFailure*> first_failure(const HuntResult& result) {
  for (const TargetHunt& hunt : result.targets)
    for (const HuntFailure& failure : hunt.failures)
      if (failure.kept.reproduced()) return {&hunt, &failure};
  return {nullptr, nullptr};
}

std::string junit_report(const HuntResult& result, const std::string& folder) {
  std::size_t failures = 0, errors = 0;
  std::string cases;
  for (const TargetHunt& hunt : result.targets) {
    failures += hunt.found() ? 1 : 0;
    errors += error_of(hunt).empty() ? 0 : 1;
    cases += junit_case(hunt, folder);
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", result.targets.size(), failures, errors);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"reweave hunt\" {0}>\n{1}"
      "  </testsuite>\n</testsuites>\n",
      counts, cases);
}

std::string sarif_report(const HuntResult& result, const std::string& folder) {
  json results = json::array();
  for (const TargetHunt& hunt : result.targets)
    for (const HuntFailure& failure : hunt.failures)
      if (failure.kept.reproduced()) results.push_back(sarif_result(hunt, failure, folder));
  const json rules =
      json::array({{{"id", "failing-schedule"},
                    {"shortDescription", {{"text", "The program fails under a schedule of its threads"}}}}});
  return json_text(sarif_log(rules, results)) + "\n";
}

std::string quality_report(const HuntResult& result, const std::string& folder) {
  json entries = json::array();
  for (const TargetHunt& hunt : result.targets)
    for (const HuntFailure& failure : hunt.failures) {
      if (!failure.kept.reproduced() || failure.file.empty()) continue;
      entries.push_back({{"description", fmt::format("{}: {}. To see it in gdb: {}", hunt.target.name,
                                                     headline_of(failure), replay_command(hunt, failure, folder))},
                         {"check_name", "failing-schedule"},
                         {"fingerprint", fingerprint_of(hunt, failure)},
                         {"severity", "critical"},
                         {"location", {{"path", failure.file}, {"lines", {{"begin", std::max(failure.line, 1u)}}}}}});
    }
  return json_text(entries) + "\n";
}

std::string markdown_report(const HuntResult& result, const std::string& folder) {
  std::string text = fmt::format("## reweave hunt: {}\n\n", markdown_text(verdict_of(result)));
  if (result.targets.size() > 1) {
    text += "| test | | runs |\n|---|---|---|\n";
    for (const TargetHunt& hunt : result.targets)
      text += fmt::format("| {} | {} | {} |\n", markdown_text(hunt.target.name), markdown_text(short_verdict(hunt)),
                          hunt.runs());
    text += "\n";
  }
  for (const TargetHunt& hunt : result.targets)
    if (result.targets.size() == 1 || hunt.found() || !hunt.problem.empty()) text += markdown_target(hunt, folder);
  return text;
}

}  // namespace reweave
