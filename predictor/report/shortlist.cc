#include "predictor/report/shortlist.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace reweave {
namespace {

constexpr std::size_t kFindingKinds = 4;  // of FindingKind

// Identifies a variable; the same field of all blocks allocated in one place counts as one variable.
using Variable = std::tuple<bool, std::uint64_t, std::uint64_t>;
using Cause = std::tuple<FindingKind, std::string, Variable, std::set<std::string>>;

Variable variable_of(const TraceModel& model, const FindingEvent& event) {
  const std::uint64_t address = model.address_of(event.index);
  if (!model.is_access(event.index)) return {false, address, 0};
  const std::uint32_t number = model.variables[event.object].block;
  if (number == kNone || model.blocks[number].is_stack) return {false, address, 0};
  return {true, model.blocks[number].site, address - model.blocks[number].address};
}

Cause cause_of(const TraceModel& model, const std::function<std::string(std::uint32_t)>& place,
               const Finding& finding) {
  std::set<std::string> places;
  for (const FindingEvent& e : finding.events) places.insert(place(e.site));
  const bool by_pattern = finding.kind == FindingKind::kOrder || finding.kind == FindingKind::kDeadlock ||
                          finding.pattern.starts_with("two variables");
  return {finding.kind, by_pattern ? finding.pattern : "", variable_of(model, finding.events.front()), places};
}

}  // namespace

void merge_causes(const TraceModel& model, const std::function<std::string(std::uint32_t)>& place,
                  std::vector<Finding>& findings) {
  std::map<Cause, std::size_t> first;
  std::vector<std::set<std::string>> others;  // patterns, by entry
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const auto [at, is_new] = first.try_emplace(cause_of(model, place, finding), kept.size());
    if (is_new) {
      kept.push_back(std::move(finding));
      others.emplace_back();
      continue;
    }
    Finding& entry = kept[at->second];
    entry.count += finding.count;
    if (finding.pattern != entry.pattern) others[at->second].insert(finding.pattern);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (others[i].empty()) continue;
    std::string text;
    for (const std::string& pattern : others[i]) text += (text.empty() ? "Seen as " : ", ") + pattern;
    kept[i].remarks.push_back(text + " at the same places as well.");
  }
  findings = std::move(kept);
}

std::uint64_t keep_best(std::size_t most, std::vector<Finding>& findings) {
  if (most == 0 || findings.size() <= most) return 0;
  const std::size_t share = most / kFindingKinds;
  std::array<std::size_t, kFindingKinds> taken{};
  std::vector<bool> keep(findings.size());
  std::size_t left = most;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    std::size_t& mine = taken[static_cast<std::size_t>(findings[i].kind)];
    if (mine >= share) continue;
    ++mine;
    --left;
    keep[i] = true;
  }
  for (std::size_t i = 0; i < findings.size() && left > 0; ++i) {
    if (keep[i]) continue;
    keep[i] = true;
    --left;
  }
  const std::size_t all = findings.size();
  std::vector<Finding> kept;
  for (std::size_t i = 0; i < all; ++i) {
    if (keep[i]) kept.push_back(std::move(findings[i]));
  }
  findings = std::move(kept);
  return all - findings.size();
}

}  // namespace reweave
