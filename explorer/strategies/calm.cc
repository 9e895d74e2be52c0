// calm: no preemption; when a thread cannot continue, any other follows, each equally likely.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

void begin_run(const PolicyConfig&, PolicyState&) {}

Choice choose(const ChoiceArgs& args) {
  if (args.current_enabled && !args.yielded) return {args.current.id, 0};
  return {any_thread(args), 0};
}

}  // namespace

extern const Policy kCalmPolicy = {"calm", "no preemption; when a thread cannot continue, any other thread may run",
                                   begin_run, choose};

}  // namespace reweave
