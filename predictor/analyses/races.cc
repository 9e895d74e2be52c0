// Data races: two threads about to make conflicting accesses, at least one a write and not both atomic.
//
// Sound: the witness ends with both threads right before their accesses. Missed: pairs beyond the sampled ones of a
// code location pair, and what seqcheck.h misses. Cost: one pass over the variables that several threads access, and a
// bounded number of clock look-ups for each pair of code locations of a variable.
#include <algorithm>

#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"
#include "predictor/model/fair_share.h"

namespace reweave {
namespace {

constexpr std::size_t kRaceSamples = 6;     // accesses of a class that are paired with another class
constexpr std::uint32_t kRacePartners = 4;  // partners tried for each

class Races : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    for (std::uint32_t v = 0; v < input.model.variables.size() && !input.expired(); ++v) variable(input, v);
    return groups_.take();
  }

 private:
  void variable(const AnalysisInput& in, std::uint32_t v) {
    const auto classes = in.classes_of(v);
    const auto visit_pairs = [&](const auto& visit) {
      for (std::size_t i = 0; i < classes.size(); ++i) {
        for (std::size_t j = i + 1; j < classes.size(); ++j) {
          const AccessClass &a = classes[i], &b = classes[j];
          if (a.thread == b.thread || (!a.writes() && !b.writes())) continue;
          if ((a.atomic && b.atomic) || a.frees || b.frees) continue;
          visit(a, b, std::pair<std::uint32_t, std::uint32_t>(std::minmax(a.site, b.site)));
        }
      }
    };
    FairShare<std::pair<std::uint32_t, std::uint32_t>> share(in.limits.pairs);
    visit_pairs([&](const AccessClass&, const AccessClass&, const auto& places) { share.count(places); });
    visit_pairs([&](const AccessClass& a, const AccessClass& b, const auto& places) {
      if (share.takes(places)) pair(in, a, b);
    });
    in.left_out.pairs += share.left_out();
  }

  void pair(const AnalysisInput& in, const AccessClass& a, const AccessClass& b) {
    const bool swap = b.site < a.site;
    const AccessClass &x = swap ? b : a, &y = swap ? a : b;
    Group& group = groups_.group({x.site, y.site, x.writes(), y.writes()});
    if (group.pattern.empty()) {
      group.kind = FindingKind::kRace;
      group.pattern = x.writes() ? (y.writes() ? "W1-W2" : "W1-R2") : "R1-W2";
      group.score = (x.writes() && y.writes() ? 1.0 : 1.2) + (x.atomic || y.atomic ? -0.3 : 0);
    }
    std::size_t found = 0;
    for (EventIndex e : spread(x.events, kRaceSamples)) found += partners(in, group, e, y);
    // If `x` has many accesses and `y` few, sample from `y` as well.
    if (found == 0 && x.events.size() > kRaceSamples) {
      for (EventIndex e : spread(y.events, kRaceSamples)) partners(in, group, e, x);
    }
  }

  std::size_t partners(const AnalysisInput& in, Group& group, EventIndex e, const AccessClass& others) {
    const std::uint32_t first = in.order.reaching(e)[others.thread];
    auto it = std::partition_point(others.events.begin(), others.events.end(),
                                   [&](EventIndex o) { return in.model.position[o] < first; });
    std::size_t found = 0;
    for (std::uint32_t tries = 0; tries < kRacePartners && it != others.events.end(); ++tries, ++it) {
      if (in.order.ordered_before_reaching(e, *it)) break;
      if (!in.locksets.compatible(in.locksets.at(e), in.locksets.at(*it))) continue;
      const bool e_first = in.model.site[e] <= in.model.site[*it];
      const std::vector<EventIndex> events = e_first ? std::vector{e, *it} : std::vector{*it, e};
      GroupTable::add(group, {events, {{}, events}});
      ++found;
    }
    return found;
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_races() { return std::make_unique<Races>(); }

}  // namespace reweave
