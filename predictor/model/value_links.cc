#include "predictor/model/value_links.h"

namespace reweave {
namespace {

// The links of all reads, and whether any differs from the trace's.
struct Links {
  std::vector<std::uint32_t> links;
  bool differ = false;
};

Links first_equal(const TraceModel& model) {
  Links result{model.link, false};
  struct Variable {
    EventIndex first = kNone, last = kNone;  // of the writes of its value in a row
  };
  std::vector<Variable> now(model.variables.size());
  for (EventIndex e = 0; e < model.size(); ++e) {
    if (!model.is_access(e)) continue;
    const std::uint32_t variable = model.object[e];
    Variable& v = now[variable];
    if (model.is_read(e) && v.first != model.link[e]) {
      result.links[e] = v.first;
      result.differ = true;
    }
    if (!model.is_write(e)) continue;
    const std::uint32_t value = model.value_of(e, variable);
    if (value == 0 || value != model.value_of(v.last, variable)) v.first = e;
    v.last = e;
  }
  return result;
}

}  // namespace

std::optional<TraceModel> link_to_first_equal(const TraceModel& model) {
  if (model.stored.empty()) return {};
  Links found = first_equal(model);
  if (!found.differ) return {};
  std::optional<TraceModel> result(model);
  result->link = std::move(found.links);
  result->build_indices();
  return result;
}

}  // namespace reweave
