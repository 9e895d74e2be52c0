// random: every schedule point picks any thread that can run, each equally likely.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

void begin_run(const PolicyConfig&, PolicyState&) {}

Choice choose(const ChoiceArgs& args) { return {any_thread(args), 0}; }

}  // namespace

extern const Policy kRandomPolicy = {"random", "any thread at each schedule point, all equally likely", begin_run,
                                     choose};

}  // namespace reweave
