// native: time slices, as an operating system would give them. The default of recording.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

void begin_run(const PolicyConfig&, PolicyState&) {}

// Words of the policy's memory.
enum { kSliceEnd = 0 };

Choice choose(const ChoiceArgs& args) {
  std::uint64_t& slice_end = args.state.words[kSliceEnd];
  const bool keeps_running = args.current_enabled && !args.yielded && args.step < slice_end;
  ThreadId next = args.current.id;
  if (!keeps_running) {
    next = next_in_turn(args);
    const std::uint64_t slice = args.config.slice;
    slice_end = args.step + slice / 2 + random_below(args.state, slice + 1);
  }
  return {next, static_cast<std::int64_t>(slice_end - args.step)};
}

}  // namespace

extern const Policy kNativePolicy = {
    "native", "time slices, as an operating system gives them", begin_run, choose, true, true};

}  // namespace reweave
