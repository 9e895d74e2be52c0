// random: every schedule point picks any thread that can run, each equally likely.
#include "recorder/policy.h"

namespace reweave {

namespace {

void begin_run(const PolicyConfig&, PolicyState&) {}

Choice choose(const ChoiceArgs& args) {
  // A thread that yields waits for something: the others go first, or a spin loop would take most of the run.
  std::uint32_t candidates = args.count;
  ThreadId chosen = args.enabled[random_below(args.state, candidates)];
  if (args.yielded && args.count > 1 && chosen == args.current.id) {
    const std::uint64_t other = random_below(args.state, args.count - 1);
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < args.count; i++)
      if (args.enabled[i] != args.current.id && seen++ == other) chosen = args.enabled[i];
  }
  return {chosen, 0};
}

}  // namespace

extern const Policy kRandomPolicy = {"random", "at each schedule point any thread, equally likely", begin_run, choose};

}  // namespace reweave
