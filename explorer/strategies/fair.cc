// fair: slices of random length, each followed by any thread, all equally likely.
//
// An explored run that has used up its schedule points continues with this policy (core/schedule/choice.cc). A state
// that a fair schedule does not leave is a hang, whichever policy led there. Short slices interrupt a thread that takes
// a lock over and over; long ones let a thread finish work that others keep undoing.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

constexpr std::uint64_t kMagnitudes = 11;  // slices have up to 2^10 points, each magnitude equally likely
constexpr std::uint64_t kLongest = std::uint64_t{1} << (kMagnitudes - 1);
// The last word, because the supervisor reads the first ones after the run (WitnessProgress). The previous policy may
// have left any value there.
constexpr std::size_t kSliceEnd = PolicyWords::kCount - 1;

void begin_run(const PolicyConfig&, PolicyState& state) { state.words[kSliceEnd] = 0; }

Choice choose(const ChoiceArgs& args) {
  std::uint64_t& end = args.state.words[kSliceEnd];
  const bool within = args.step < end && end - args.step <= kLongest;
  if (within && args.current_enabled && !args.yielded)
    return {args.current.id, static_cast<std::int64_t>(end - args.step)};
  end = args.step + 1 + random_below(args.state, std::uint64_t{1} << random_below(args.state, kMagnitudes));
  return {any_thread(args), static_cast<std::int64_t>(end - args.step)};
}

}  // namespace

extern const Policy kFairPolicy = {"fair", "slices of random length, any thread after each", begin_run, choose};

}  // namespace reweave
