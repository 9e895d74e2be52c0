#include "predictor/model/value_links.h"

namespace reweave {
namespace {

// The links of all events, with those of reads changed.
std::vector<std::uint32_t> links_to_first_equal(const TraceModel& model) {
  std::vector<std::uint32_t> links = model.link;
  struct Variable {
    EventIndex first = kNone, last = kNone;  // of the writes of its value in a row
  };
  std::vector<Variable> now(model.variables.size());
  for (EventIndex e = 0; e < model.size(); ++e) {
    if (!model.is_access(e)) continue;
    const std::uint32_t variable = model.object[e];
    Variable& v = now[variable];
    if (model.is_read(e)) links[e] = v.first;
    if (!model.is_write(e)) continue;
    const std::uint32_t value = model.value_of(e, variable);
    if (value == 0 || value != model.value_of(v.last, variable)) v.first = e;
    v.last = e;
  }
  return links;
}

}  // namespace

std::optional<TraceModel> link_to_first_equal(const TraceModel& model) {
  if (model.stored.empty()) return {};
  std::vector<std::uint32_t> links = links_to_first_equal(model);
  if (links == model.link) return {};
  std::optional<TraceModel> result(model);
  result->link = std::move(links);
  result->build_indices();
  return result;
}

}  // namespace reweave
