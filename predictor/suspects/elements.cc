#include "predictor/suspects/elements.h"

namespace reweave {

const Elements::Makers& Elements::makers_of(std::uint32_t function) const {
  const auto [known, is_new] = makers_.try_emplace(function);
  if (!is_new) return known->second;
  for (const SummaryBlock& block : program_.functions[function].blocks)
    for (const SummaryStep& step : block.steps) {
      if (step.node == kNoNode) continue;
      const auto [made, is_first] = known->second.try_emplace(step.node, &step);
      if (!is_first) made->second = nullptr;
    }
  return known->second;
}

// Follows copies and fields back to a step that `ends` there; null if there is none, or several make a node on the way.
template <typename Ends>
const SummaryStep* Elements::back_to(std::uint32_t function, Operand at, Ends&& ends) const {
  const Makers& makers = makers_of(function);
  constexpr int kLongest = 32;
  for (int i = 0; i < kLongest && at.kind == Operand::Kind::kNode; i++) {
    const auto made = makers.find(at.index);
    if (made == makers.end() || made->second == nullptr) return nullptr;
    const SummaryStep& step = *made->second;
    if (ends(step)) return &step;
    if (!passes_pointer(step.op)) return nullptr;
    at = step.first;
  }
  return nullptr;
}

std::optional<std::uint32_t> Elements::index_of(std::uint32_t function, const Operand& address) const {
  const SummaryStep* element =
      back_to(function, address, [](const SummaryStep& step) { return step.op == SummaryOp::kElement; });
  const bool is_known = element != nullptr && element->second.kind == Operand::Kind::kNode;
  return is_known ? std::optional(element->second.index) : std::nullopt;
}

const SummaryStep* Elements::maker_of(std::uint32_t function, const Operand& address) const {
  return back_to(function, address, [](const SummaryStep& step) {
    return step.op == SummaryOp::kCall || step.op == SummaryOp::kLoad || step.op == SummaryOp::kStackObject;
  });
}

}  // namespace reweave
