#include "explorer/fixed/fix_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "explorer/explain/rate.h"
#include "explorer/searches/search.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"

namespace reweave {

using nlohmann::json;

namespace {

std::uint64_t count_in(const json& object, const char* member) { return object.at(member).get<std::uint64_t>(); }

bool draws(const std::string& strategy) {
  const SearchRow* row = find_search(strategy);
  return row != nullptr && row->draws;
}

// The verdict follows from the failures or, if there are none, from what was tried.
std::string verdict_of(const json& report) {
  const json& failures = report.at("failures");
  if (std::ranges::any_of(failures, [](const json& one) { return one.at("same").get<bool>(); })) return "still fails";
  if (!failures.empty()) return "moved";
  return count_in(report.at("search"), "examined") > 0 ? "fixed" : "unknown";
}

json bound_of(const json& search) {
  const bool has_bound =
      count_in(search, "failed") == 0 && count_in(search, "examined") > 0 && draws(search.at("strategy"));
  return has_bound ? json(most_failing(count_in(search, "examined"))) : json();
}

std::string headline(const json& report) {
  const std::string verdict = report.at("verdict"), outcome = report.at("old").at("outcome");
  if (verdict == "still fails") return fmt::format("Still fails, as before: {}.", outcome);
  if (verdict == "moved")
    return fmt::format("Only moved: it does not fail as before ({}), but in another way.", outcome);
  if (verdict == "fixed") return fmt::format("Fixed, as far as was tried: no run failed. Before: {}.", outcome);
  return fmt::format("Unknown: no run could be examined. Before: {}.", outcome);
}

std::string pair_line(const json& pair) {
  const std::string text = pair.at("text");
  if (!pair.at("found").get<bool>()) return fmt::format("  {}: not tried, because its lines no longer exist\n", text);
  const std::uint64_t runs = count_in(pair, "runs"), infeasible = count_in(pair, "infeasible");
  if (runs == 0 && infeasible > 0) return fmt::format("  {}: was not reached in any of {} runs\n", text, infeasible);
  std::string line = fmt::format("  {}: {} of {} runs fail", text, count_in(pair, "failed"), runs);
  if (infeasible > 0) line += fmt::format("; {} more did not reach the order", infeasible);
  return line + "\n";
}

std::string schedule_line(const json& schedule) {
  if (!schedule.at("made").get<bool>()) return "The old schedule: not tried, because its lines no longer exist\n";
  const std::string departure = schedule.at("departure");
  return fmt::format("The old schedule: followed for {} of {} turns of threads{}; the run {}\n",
                     count_in(schedule, "followed"), count_in(schedule, "turns"),
                     departure.empty() ? "" : " (" + departure + ")",
                     schedule.at("failed").get<bool>() ? "failed" : "passed");
}

std::string search_line(const json& search) {
  const std::uint64_t examined = count_in(search, "examined"), failed = count_in(search, "failed");
  std::string line =
      fmt::format("The search ({}): {} of {} runs fail", search.at("strategy").get<std::string>(), failed, examined);
  if (!search.at("at_most").is_null())
    line += fmt::format(" (at most {} of such runs, 95 %)", percent_text(search.at("at_most").get<double>()));
  if (failed > 0)
    line += fmt::format(" ({})", percent_text(static_cast<double>(failed) / static_cast<double>(examined)));
  if (const std::uint64_t others = count_in(search, "runs") - examined; others > 0)
    line += fmt::format("; {} more say{} nothing", others, others == 1 ? "s" : "");
  return line + (search.at("out_of_time").get<bool>() ? "; it ended because its time was up\n" : "\n");
}

json json_of(const FixReport& report) {
  json whole = {{"format", "reweave-fix"}, {"version", 1}, {"recording", report.recording}};
  whole["old"] = {{"recording", report.old.recording},
                  {"outcome", describe_outcome(report.old.end)},
                  {"last_words", report.old.last_words},
                  {"cause", report.old.cause}};
  whole["recorded"] = {{"runs", report.recorded}, {"failed", report.recorded_failed}};
  whole["pairs"] = json::array();
  for (const TriedPair& pair : report.pairs)
    whole["pairs"].push_back({{"text", pair.text},
                              {"found", pair.found},
                              {"runs", pair.runs},
                              {"failed", pair.failed},
                              {"infeasible", pair.infeasible}});
  const TriedSchedule& schedule = report.schedule;
  whole["schedule"] = {{"turns", schedule.turns},         {"found", schedule.found}, {"followed", schedule.followed},
                       {"departure", schedule.departure}, {"made", schedule.made},   {"failed", schedule.failed}};
  whole["search"] = {{"strategy", report.strategy},
                     {"runs", report.search.runs},
                     {"examined", report.search.examined()},
                     {"failed", report.search.failed},
                     {"out_of_time", report.out_of_time}};
  whole["search"]["at_most"] = bound_of(whole["search"]);
  whole["failures"] = json::array();
  for (const FoundAgain& found : report.failures)
    whole["failures"].push_back({{"path", found.path},
                                 {"what", found.what},
                                 {"last_words", found.last_words},
                                 {"how", found.how},
                                 {"same", found.same}});
  whole["verdict"] = verdict_of(whole);
  return whole;
}

std::optional<std::string> wrong_counts(const json& report) {
  for (const json& pair : report.at("pairs")) {
    if (count_in(pair, "failed") > count_in(pair, "runs")) return "a pair has more failing runs than runs";
    if (!pair.at("found").get<bool>() && count_in(pair, "runs") + count_in(pair, "infeasible") > 0)
      return "a pair was tried that was not found";
  }
  const json &schedule = report.at("schedule"), &search = report.at("search"), &recorded = report.at("recorded");
  if (count_in(schedule, "followed") > count_in(schedule, "found")) return "more turns were followed than were found";
  if (count_in(schedule, "found") > count_in(schedule, "turns")) return "more turns were found than there were";
  const bool made = schedule.at("made").get<bool>();
  if (schedule.at("failed").get<bool>() && !made) return "a run is listed as failed, but it was never made";
  if (count_in(search, "failed") > count_in(search, "examined")) return "more runs failed than were examined";
  if (count_in(search, "examined") > count_in(search, "runs")) return "more runs were examined than were made";
  if (count_in(recorded, "failed") > count_in(recorded, "runs")) return "more recorded runs failed than were made";
  return {};
}

}  // namespace

std::optional<std::string> check_fix(const json& report) {
  try {
    if (std::optional<std::string> wrong = wrong_counts(report)) return wrong;
    if (report.at("verdict") != verdict_of(report)) return "the verdict does not follow from the failures";
    const json expected = bound_of(report.at("search")), &stated = report.at("search").at("at_most");
    if (expected.is_null() != stated.is_null()) return "the bound does not follow from the search";
    constexpr double kNear = 1e-9;
    if (!expected.is_null() && std::abs(expected.get<double>() - stated.get<double>()) > kNear)
      return "the bound is another";
  } catch (const json::exception& error) {
    return error.what();  // the report has another form
  }
  return {};
}

json fix_json(const FixReport& report) {
  json whole = json_of(report);
  const std::optional<std::string> wrong = check_fix(whole);
  CHECK(!wrong, "the report contradicts its own figures: {}", *wrong);
  return whole;
}

std::string fix_text(const json& report) {
  std::string text = headline(report) + "\n";
  if (const std::string cause = report.at("old").at("cause"); !cause.empty())
    text += fmt::format("The cause was: {}\n", cause);
  if (const json& recorded = report.at("recorded"); count_in(recorded, "failed") > 0)
    text += fmt::format("{} of {} failed.\n", count_in(recorded, "failed"),
                        counted(count_in(recorded, "runs"), "recorded run"));
  if (!report.at("pairs").empty()) text += "The old order of events:\n";
  for (const json& pair : report.at("pairs")) text += pair_line(pair);
  text += schedule_line(report.at("schedule"));
  text += search_line(report.at("search"));
  for (const json& failure : report.at("failures")) {
    text += fmt::format("{}: {}{}\n", failure.at("path").get<std::string>(), failure.at("what").get<std::string>(),
                        failure.at("same").get<bool>() ? " (as before)" : "");
    if (const std::string words = failure.at("last_words"); !words.empty()) text += fmt::format("  {}\n", words);
  }
  return text;
}

int fix_status(const json& report) {
  if (!report.at("failures").empty()) return kExitFailureFound;
  return report.at("verdict") == "fixed" ? 0 : kExitNotExamined;
}

}  // namespace reweave
