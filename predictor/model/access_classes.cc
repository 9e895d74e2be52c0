#include "predictor/model/access_classes.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "predictor/model/fair_share.h"

namespace reweave {

std::vector<EventIndex> accesses_of(const TraceModel& model, std::uint32_t variable) {
  const EventRow writes = model.writes_of[variable], reads = model.reads_of[variable];
  std::vector<EventIndex> result;
  result.reserve(writes.size() + reads.size());
  std::set_union(writes.begin(), writes.end(), reads.begin(), reads.end(),
                 std::back_inserter(result),  // an update appears once
                 [&](EventIndex a, EventIndex b) {
                   return model.thread[a] != model.thread[b] ? model.thread[a] < model.thread[b] : a < b;
                 });
  return result;
}

std::vector<AccessClass> access_classes(const TraceModel& model, std::uint32_t variable, std::size_t most,
                                        std::uint64_t& left_out) {
  std::vector<AccessClass> classes;
  std::vector<std::uint64_t> places;  // by class: its location and kind
  std::unordered_map<std::uint64_t, std::size_t> index;
  std::uint32_t thread = kNone;
  for (EventIndex e : accesses_of(model, variable)) {
    if (model.thread[e] != thread) index.clear();
    thread = model.thread[e];
    const std::uint64_t key = std::uint64_t{model.site[e]} << 16 | static_cast<std::uint64_t>(model.op[e]) << 8 |
                              (model.flags[e] & (kAtomic | kFrees));
    const auto [it, is_new] = index.emplace(key, classes.size());
    if (is_new) {
      classes.push_back({thread, model.site[e], model.op[e], model.is_atomic(e), (model.flags[e] & kFrees) != 0, {}});
      places.push_back(key);
    }
    classes[it->second].events.push_back(e);
  }
  FairShare<std::uint64_t> share(most);
  for (const std::uint64_t place : places) share.count(place);
  std::vector<AccessClass> kept;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (share.takes(places[i]))
      kept.push_back(std::move(classes[i]));
    else
      left_out += classes[i].events.size();
  }
  return kept;
}

std::vector<EventIndex> spread(const std::vector<EventIndex>& events, std::size_t count) {
  if (events.size() <= count) return events;
  std::vector<EventIndex> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(events[i * (events.size() - 1) / (count - 1)]);
  return result;
}

}  // namespace reweave
