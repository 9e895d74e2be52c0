// What the processor answers without asking anybody, as an input: logged, or taken from the recording.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct InputValues {
  std::uint64_t value[4];
};

// Replay: the values of the next record, which must be of `source`.
InputValues recorded_input(wire::InputSource source);

void log_input(wire::InputSource source, const InputValues& values);

// What `ask()` says now, logged; in a replay what it said then.
template <typename Ask>
InputValues input(wire::InputSource source, Ask ask) {
  if (replaying()) return recorded_input(source);
  const InputValues values = ask();
  log_input(source, values);
  return values;
}

}  // namespace reweave::core
