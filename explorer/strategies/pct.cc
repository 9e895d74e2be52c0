// pct: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//
// Threads get distinct random priorities, and the highest that can run runs; at depth - 1 random points the running
// thread drops below all others. Finds a bug of depth d among n threads and k points with probability >= 1 / (n
// k^(d-1)). Departure from the paper: a thread that yields drops below all others, otherwise a spin loop would starve
// the thread it waits for.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

constexpr std::uint64_t kMaxChanges = 16;
constexpr std::uint64_t kSlots = 512;  // threads share priorities beyond that
enum { kStart = 0, kLowest = 1, kChanges = 2, kPriorities = kChanges + kMaxChanges };

// Priorities above this are random; those below belong to threads that dropped, in the order of their drops.
constexpr std::uint64_t kFloor = std::uint64_t{1} << 32;

void begin_run(const PolicyConfig& config, PolicyState& state) {
  state.words[kStart] = ~std::uint64_t{0};
  state.words[kLowest] = kFloor;
  for (std::uint64_t i = 0; i < kMaxChanges; i++)
    state.words[kChanges + i] = i + 1 < config.depth ? 1 + random_below(state, config.length + 1) : 0;
  for (std::uint64_t i = 0; i < kSlots; i++) state.words[kPriorities + i] = kFloor + 1 + random_below(state, kFloor);
}

std::uint64_t& priority(PolicyState& state, ThreadId thread) { return state.words[kPriorities + thread % kSlots]; }

bool is_change_point(PolicyState& state, std::uint64_t step) {
  for (std::uint64_t i = 0; i < kMaxChanges; i++)
    if (state.words[kChanges + i] != 0 && state.words[kChanges + i] <= step) {
      state.words[kChanges + i] = 0;
      return true;
    }
  return false;
}

Choice choose(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  if (state.words[kStart] == ~std::uint64_t{0}) state.words[kStart] = args.step;
  if (args.yielded || is_change_point(state, args.step - state.words[kStart]))
    priority(state, args.current.id) = --state.words[kLowest];
  return {highest(args, priority), 0};
}

}  // namespace

extern const Policy kPctPolicy = {"pct", "random priorities with a few random change points", begin_run, choose};

}  // namespace reweave
