// chaos: random priorities that change now and then, and short random slices: for recording runs that are likely to
// fail. After rr's chaos mode (Robert O'Callahan, 2016): some threads get a low priority for a while and starve, which
// reveals bugs that fair slices never show.
#include "recorder/policy.h"

namespace reweave {

namespace {

enum { kSliceEnd = 0, kPrioritiesEnd = 1, kLast = 2, kChoicesLeft = 3, kPriorities = 4 };
constexpr std::uint64_t kSlots = 512;  // threads share priorities beyond that
constexpr std::uint64_t kLevels = 4;
constexpr std::uint64_t kChoiceMagnitudes = 11;

std::uint64_t& priority(PolicyState& state, ThreadId thread) { return state.words[kPriorities + thread % kSlots]; }

void begin_run(const PolicyConfig&, PolicyState& state) { state.words[kSliceEnd] = state.words[kPrioritiesEnd] = 0; }

// A slice is short or long with equal chance on a logarithmic scale, so that programs with a hundred schedule points
// are disturbed as much as those with a million.
std::uint64_t draw_slice(const ChoiceArgs& args) {
  std::uint64_t magnitudes = 1;
  while (args.config.slice >> magnitudes != 0) magnitudes++;
  const std::uint64_t limit = std::uint64_t{1} << random_below(args.state, magnitudes);
  return 1 + random_below(args.state, limit);
}

// Priorities end after some schedule points or some choices, whichever comes first: threads that sleep or block most of
// the time reach few points, and a thread must not starve forever beside them.
void draw_priorities(const ChoiceArgs& args) {
  for (std::uint64_t i = 0; i < kSlots; i++) args.state.words[kPriorities + i] = random_below(args.state, kLevels);
  args.state.words[kLast] = kLevels;
  args.state.words[kPrioritiesEnd] = args.step + draw_slice(args) * 8;
  args.state.words[kChoicesLeft] = std::uint64_t{1} << random_below(args.state, kChoiceMagnitudes);
}

Choice choose(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  if (args.step >= state.words[kPrioritiesEnd] || state.words[kChoicesLeft] == 0) draw_priorities(args);
  const bool keeps_running = args.current_enabled && !args.yielded && args.step < state.words[kSliceEnd];
  ThreadId next = args.current.id;
  // A thread that yields waits for another one, but it is unknown which: all others go first.
  if (args.yielded) priority(state, args.current.id) = state.words[kLast]++;
  if (!keeps_running) {
    state.words[kChoicesLeft]--;
    std::uint64_t best = ~std::uint64_t{0}, ties = 0;
    for (std::uint32_t i = 0; i < args.count; i++) {
      const ThreadId id = args.enabled[i];
      const std::uint64_t rank = priority(state, id);
      if (rank < best) best = rank, ties = 0;
      if (rank == best && random_below(state, ++ties) == 0) next = id;
    }
    state.words[kSliceEnd] = args.step + draw_slice(args);
  }
  const std::uint64_t end = state.words[kSliceEnd];
  return {next, static_cast<std::int64_t>(end > args.step ? end - args.step : 0)};
}

}  // namespace

extern const Policy kChaosPolicy = {"chaos", "changing random priorities and slices; what --chaos records with",
                                    begin_run, choose};

}  // namespace reweave
