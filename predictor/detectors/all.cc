#include "predictor/detectors/detector.h"

namespace reweave {

std::span<const DetectorRow> all_detectors() {
  static constexpr DetectorRow kRows[] = {
      {"hb", "races: conflicting accesses that are not ordered in the recorded run", make_hb},
      {"shb", "as hb, with reads ordered after their writes: every report is feasible", make_shb},
      {"wcp", "as hb, but critical sections are ordered only if they conflict; sound up to its first report", make_wcp},
      {"lockset", "conflicting accesses under no common lock; many can never happen together", make_lockset},
  };
  return kRows;
}

void RaceReports::add(const AccessMark& first, const AccessMark& second, std::uint64_t address, std::uint64_t event) {
  const std::uint64_t key = std::uint64_t{std::min(first.site, second.site)} << 32 | std::max(first.site, second.site);
  const auto [it, fresh] = index_.try_emplace(key, reports_.size());
  if (!fresh) {
    ++reports_[it->second].count;
    return;
  }
  reports_.push_back(
      {first.site, second.site, first.thread, second.thread, first.write, second.write, address, event, 1});
}

}  // namespace reweave
