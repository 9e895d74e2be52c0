#include "predictor/suspects/suspects_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "formats/base/counted.h"
#include "formats/base/json_text.h"
#include "formats/base/sarif.h"
#include "formats/base/uri.h"

namespace reweave {

namespace {

using nlohmann::json;

std::string list_of(const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::string what_it_does(const SuspectSide& side) {
  if (side.frees) return "frees";
  const char* verb = side.reads && side.writes ? "updates" : side.writes ? "writes" : "reads";
  return fmt::format("{}{}", verb, side.atomic ? " (atomically)" : "");
}

std::string where_it_is(const SuspectSide& side) {
  const std::string file = std::filesystem::path(side.place.file).filename().string();
  if (side.place.line == 0) return side.place.function;
  return fmt::format("{} ({}:{})", side.place.function, file, side.place.line);
}

std::string side_text(const SuspectSide& side) {
  return fmt::format("{:<9} in {}, in threads of {}{}", what_it_does(side), where_it_is(side), list_of(side.threads),
                     side.locks.empty() ? "" : ", holding " + list_of(side.locks));
}

std::string usual_text(const Suspect& suspect) {
  if (suspect.usual_lock.empty()) return "";
  return fmt::format("{} is held at {} where it is used", suspect.usual_lock, counted(suspect.usual, "place"));
}

json side_json(const SuspectSide& side) {
  return {{"file", side.place.file}, {"line", side.place.line}, {"function", side.place.function},
          {"reads", side.reads},     {"writes", side.writes},   {"atomic", side.atomic},
          {"frees", side.frees},     {"threads", side.threads}, {"locks", side.locks}};
}

json location_of(const SuspectSide& side, const std::string& text) {
  json place = {{"message", {{"text", text}}},
                {"logicalLocations", json::array({{{"fullyQualifiedName", side.place.function}}})}};
  if (!side.place.file.empty())
    place["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(side.place.file)}}},
                                 {"region", {{"startLine", std::max(side.place.line, 1u)}}}};
  return place;
}

std::array<std::uint64_t, kNoSuspicions> counts_of(const SuspectReport& report) {
  std::array<std::uint64_t, kNoSuspicions> counts{};
  for (const LeftOutPair& pair : report.left_out) counts[static_cast<std::size_t>(pair.reason)]++;
  return counts;
}

}  // namespace

std::string suspects_text(const SuspectReport& report, std::size_t most, bool all) {
  const std::size_t shown = most == 0 ? report.suspects.size() : std::min(most, report.suspects.size());
  std::string text =
      fmt::format("{} of {}, {}, {}; threads begin in {}\n", counted(report.functions, "function"),
                  counted(report.modules, "module"), fmt::format("{} accesses to memory", report.accesses),
                  counted(report.suspects.size(), "pair") + " suspected",
                  report.threads.empty() ? "main only" : fmt::format("main, {}", fmt::join(report.threads, ", ")));
  for (std::size_t i = 0; i < shown; i++) {
    const Suspect& suspect = report.suspects[i];
    text += fmt::format("\n{}. {}\n   {}\n   {}\n", i + 1, suspect.object, side_text(suspect.sides[0]),
                        side_text(suspect.sides[1]));
    if (const std::string usual = usual_text(suspect); !usual.empty()) text += "   " + usual + "\n";
  }
  if (shown < report.suspects.size())
    text += fmt::format("\n{} more: --most 0 shows all\n", report.suspects.size() - shown);
  if (!report.left_out.empty()) text += "\nnot suspected, though they conflict:\n";
  const auto counts = counts_of(report);
  for (std::size_t reason = 0; reason < kNoSuspicions; reason++) {
    if (counts[reason] == 0) continue;
    text += fmt::format("  {}: {}\n", counted(counts[reason], "pair"), text_of(static_cast<NoSuspicion>(reason)));
    for (const LeftOutPair& pair : report.left_out)
      if (all && static_cast<std::size_t>(pair.reason) == reason)
        text += fmt::format("    {}: {} in {}, {} in {}\n", pair.object, what_it_does(pair.sides[0]),
                            where_it_is(pair.sides[0]), what_it_does(pair.sides[1]), where_it_is(pair.sides[1]));
  }
  return text;
}

std::string suspects_json(const SuspectReport& report) {
  json whole = {{"format", "reweave-suspects"},  {"version", 1},
                {"reweave", REWEAVE_VERSION},    {"modules", report.modules},
                {"functions", report.functions}, {"accesses", report.accesses},
                {"threads", report.threads},     {"merged_states", report.merged_states},
                {"suspects", json::array()},     {"left_out", json::array()}};
  for (const Suspect& suspect : report.suspects)
    whole["suspects"].push_back({{"object", suspect.object},
                                 {"first", side_json(suspect.sides[0])},
                                 {"second", side_json(suspect.sides[1])},
                                 {"usual_lock", suspect.usual_lock},
                                 {"usual", suspect.usual},
                                 {"score", suspect.score}});
  for (const LeftOutPair& pair : report.left_out)
    whole["left_out"].push_back({{"object", pair.object},
                                 {"first", side_json(pair.sides[0])},
                                 {"second", side_json(pair.sides[1])},
                                 {"reason", text_of(pair.reason)}});
  return json_text(whole) + "\n";
}

std::string suspects_sarif(const SuspectReport& report) {
  json results = json::array();
  for (const Suspect& suspect : report.suspects) {
    const std::string text =
        fmt::format("{}: {} while {}{}", suspect.object, side_text(suspect.sides[0]), side_text(suspect.sides[1]),
                    suspect.usual_lock.empty() ? "" : ". " + usual_text(suspect));
    json result = {{"ruleId", "suspected-race"}, {"level", "note"}, {"message", {{"text", text}}}};
    result["locations"] = json::array({location_of(suspect.sides[0], side_text(suspect.sides[0]))});
    result["relatedLocations"] = json::array({location_of(suspect.sides[1], side_text(suspect.sides[1]))});
    result["relatedLocations"][0]["id"] = 1;
    results.push_back(std::move(result));
  }
  const json rules =
      json::array({{{"id", "suspected-race"},
                    {"shortDescription",
                     {{"text", "Two threads may use the same memory at the same time without a common lock"}}}}});
  return json_text(sarif_log(rules, results)) + "\n";
}

}  // namespace reweave
