// branch: given choices, then partial order sampling (policy `pos`): returns to a state of an earlier run and continues
// from there in another way. The search `goexplore` uses it.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

extern const Policy kPosPolicy;

namespace {

// Words above those that `pos` uses. kLeft: 1 after the last given choice, or after one that was not possible; the
// remaining ones are then ignored.
enum { kNext = 1000, kLeft = 1001 };
static_assert(kLeft < sizeof(PolicyState::words) / sizeof(std::uint64_t));

void begin_run(const PolicyConfig& config, PolicyState& state) {
  kPosPolicy.begin_run(config, state);
  state.words[kNext] = state.words[kLeft] = 0;
}

Choice choose(const ChoiceArgs& args) {
  std::uint64_t& next = args.state.words[kNext];
  if (args.goal == nullptr || args.state.words[kLeft] != 0) return kPosPolicy.choose(args);
  const auto& header = *reinterpret_cast<const PrefixGoal*>(args.goal);
  const auto* choices = reinterpret_cast<const ThreadId*>(&header + 1);
  if (next < header.choices && contains(args, choices[next])) return {choices[next++], 0};
  args.state.words[kLeft] = 1;
  return kPosPolicy.choose(args);
}

}  // namespace

extern const Policy kBranchPolicy = {"branch", "given choices, then partial order sampling", begin_run, choose};

}  // namespace reweave
