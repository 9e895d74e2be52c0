// Knowledge as JSON: units of later rounds start with the knowledge that a unit has gained.
#include <algorithm>

#include "explorer/campaigns/json_fields.h"
#include "explorer/campaigns/unit_result.h"
#include "formats/base/json_text.h"

namespace reweave {

using nlohmann::json;

namespace {

constexpr std::size_t kMostSites = 1'000'000, kMostVariables = 200'000, kMostPairs = 1'000'000;
constexpr std::size_t kMostKnownThreads = kMaxThreads;
constexpr std::uint64_t kMostCount = UINT64_MAX / 1024;  // searches calculate with counts, which must not overflow

template <typename Number>
std::vector<Number> numbers_of(const json& list, const std::string& path, const char* name) {
  std::vector<Number> numbers;
  for (const json& each : list)
    numbers.push_back(static_cast<Number>(JsonFields::number_of(each, path, name, std::numeric_limits<Number>::max())));
  return numbers;
}

Variable variable_of(const json& from, const std::string& path) {
  const JsonFields fields(from, path);
  Variable variable;
  variable.sites = numbers_of<std::uint64_t>(fields.list("sites", kMostSites), path, "sites");
  REQUIRE(!variable.sites.empty() && std::ranges::is_sorted(variable.sites), "{} is damaged: sites out of order", path);
  variable.accesses = fields.number("accesses", kMostCount);
  variable.by_thread = numbers_of<std::uint32_t>(fields.list("by_thread", kMostKnownThreads), path, "by_thread");
  return variable;
}

}  // namespace

std::string knowledge_json(const KnowledgeRecord& knowledge) {
  json whole = {
      {"choices", knowledge.choices}, {"threads", knowledge.threads}, {"saw_accesses", knowledge.saw_accesses},
      {"seen", knowledge.seen},       {"variables", json::array()},   {"pairs", json::array()},
      {"releases", json::array()}};
  for (const Variable& variable : knowledge.variables)
    whole["variables"].push_back(
        {{"sites", variable.sites}, {"accesses", variable.accesses}, {"by_thread", variable.by_thread}});
  for (const auto& [first, second, count] : knowledge.pairs) whole["pairs"].push_back({first, second, count});
  for (const auto& [release, use] : knowledge.uses_of_released) whole["releases"].push_back({release, use});
  return json_text(whole, -1);
}

KnowledgeRecord parse_knowledge(const std::string& text, const std::string& path) {
  const json whole = parse_json(text, path);
  const JsonFields fields(whole, path);
  KnowledgeRecord knowledge;
  knowledge.choices = fields.number("choices", kMostCount);
  knowledge.threads = static_cast<std::uint32_t>(fields.number("threads", kMostKnownThreads));
  knowledge.saw_accesses = fields.flag("saw_accesses");
  knowledge.seen = numbers_of<std::uint64_t>(fields.list("seen", kMostSites), path, "seen");
  for (const json& each : fields.list("variables", kMostVariables))
    knowledge.variables.push_back(variable_of(each, path));
  const auto row = [&](const json& list, std::size_t size) {
    REQUIRE(list.is_array() && list.size() == size, "{} is damaged: a pair is incomplete", path);
    return numbers_of<std::uint64_t>(list, path, "pairs");
  };
  for (const json& each : fields.list("pairs", kMostPairs)) {
    const std::vector<std::uint64_t> pair = row(each, 3);
    REQUIRE(pair[2] <= kMostCount, "{} is damaged: a count is too great", path);
    knowledge.pairs.push_back({pair[0], pair[1], pair[2]});
  }
  for (const json& each : fields.list("releases", kMostPairs)) {
    const std::vector<std::uint64_t> pair = row(each, 2);
    knowledge.uses_of_released.emplace_back(pair[0], pair[1]);
  }
  return knowledge;
}

}  // namespace reweave
