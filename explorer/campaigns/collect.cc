// Reads and combines the results of units.
#include <algorithm>
#include <map>

#include "explorer/campaign/failure_key.h"
#include "explorer/campaigns/merge.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

// Several runs that ended alike are examined, because they may have different causes: at most kSamples for each of at
// most kMostEnds ends.
constexpr std::size_t kSamples = 4, kMostEnds = 100;

class Collector {
 public:
  explicit Collector(CaseFindings& findings) : findings_(findings) {}

  void add(const UnitResult& unit) {
    findings_.runs += unit.runs;
    findings_.examined += unit.examined;
    findings_.saw_accesses = findings_.saw_accesses || unit.saw_accesses;
    findings_.gave_up += unit.gave_up ? 1 : 0;
    if (findings_.problem.empty()) findings_.problem = unit.problem;
    if (findings_.left_for.empty()) findings_.left_for = unit.left_for;
    for (const FoundFailure& failure : unit.failures) add(failure, unit.unit);
    for (const FoundFailure& suspect : unit.suspects) add_suspect(suspect, unit.unit);
  }

 private:
  struct End {
    std::size_t first;  // index of the failure
    std::size_t samples = 1;
  };

  void add(const FoundFailure& failure, std::uint64_t unit) {
    FoundFailure found = failure;
    found.how = found_by(failure, unit);
    const auto end = std::ranges::find_if(ends_, [&](const End& other) {
      const FoundFailure& first = findings_.failures[other.first];
      return first.site == failure.site && same_failure(first.end, failure.end);
    });
    if (end == ends_.end()) {
      if (ends_.size() == kMostEnds) {
        findings_.left_out += failure.count;
        return;
      }
      ends_.push_back({findings_.failures.size()});
      findings_.failures.push_back(std::move(found));
    } else if (end->samples < kSamples) {
      end->samples++;
      findings_.failures.push_back(std::move(found));
    } else {
      findings_.failures[end->first].count += failure.count;
    }
  }

  void add_suspect(const FoundFailure& suspect, std::uint64_t unit) {
    std::vector<FoundFailure>& known = findings_.suspects;
    const auto is_same = [&](const FoundFailure& other) { return other.end.text == suspect.end.text; };
    if (known.size() == kMostEnds || std::ranges::any_of(known, is_same)) return;
    known.push_back(suspect);
    known.back().how = found_by(suspect, unit);
  }

  static std::string found_by(const FoundFailure& found, std::uint64_t unit) {
    return fmt::format("unit {}, run {}, {}", unit, found.number, found.how);
  }

  CaseFindings& findings_;
  std::vector<End> ends_;
};

// The unit's best partial result: results without a problem come first, then those with more runs. Nothing if the unit
// published none.
std::optional<UnitResult> partial_result(const CampaignFolder& campaign,
                                         const std::vector<CampaignFolder::Entry>& entries) {
  std::optional<UnitResult> best;
  for (const auto& entry : entries) {
    const auto content = campaign.read(Published::kPartial, entry);
    UnitResult result = parse_result(content.line, content.path);
    const auto rank = [](const UnitResult& each) { return std::pair(each.problem.empty(), each.runs); };
    if (!best || rank(result) > rank(*best)) best = std::move(result);
  }
  return best;
}

std::vector<CampaignFolder::Entry> of_unit(const std::map<std::uint64_t, std::vector<CampaignFolder::Entry>>& names,
                                           std::uint64_t unit) {
  const auto found = names.find(unit);
  return found == names.end() ? std::vector<CampaignFolder::Entry>() : found->second;
}

}  // namespace

ResultNames::ResultNames(const CampaignFolder& campaign) {
  for (auto& entry : campaign.list(Published::kUnits)) units[entry.number].push_back(std::move(entry));
  for (auto& entry : campaign.list(Published::kPartial)) partial[entry.number].push_back(std::move(entry));
}

CaseFindings collect(const CampaignFolder& campaign, const ResultNames& names, std::uint64_t case_index) {
  const CampaignPlan& plan = campaign.plan();
  CaseFindings findings;
  findings.units = plan.units;
  Collector collector(findings);
  for (std::uint64_t index = 0; index < plan.units; index++) {
    const std::uint64_t unit = unit_number(plan, case_index, index);
    const auto content = campaign.read(Published::kUnits, of_unit(names.units, unit));
    std::optional<UnitResult> result;
    if (content)
      result = parse_result(content->line, content->path);
    else
      result = partial_result(campaign, of_unit(names.partial, unit));
    if (!result) continue;
    REQUIRE(result->unit == unit && result->partial == !content, "the result of unit {} belongs to another unit", unit);
    (content ? findings.done : findings.partial)++;
    collector.add(*result);
    if (!content || content->tail.empty()) continue;
    const UnitTime time = parse_time(content->tail, content->path);
    findings.wall += time.wall;
    findings.cpu += time.cpu;
  }
  return findings;
}

}  // namespace reweave
