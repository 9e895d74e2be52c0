// Values that the processor supplies without a system call, as inputs: logged, or taken from the recording.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/agree.h"

namespace reweave::core {

struct InputValues {
  std::uint64_t value[4];
};

// Logs and returns the result of `ask()`; in a replay returns the recorded one.
template <typename Ask>
InputValues input(wire::InputSource source, Ask ask) {
  constexpr char kDoing[] = "asked the processor";
  InputValues values;
  agree<wire::InputRecord>(
      wire::RecordKind::kInput, kDoing,
      [&](wire::InputRecord& record) {
        values = ask();
        record.source = static_cast<std::uint32_t>(source);
        memcpy(record.values, values.value, sizeof record.values);
      },
      [&](const wire::InputRecord& record) {
        memcpy(values.value, record.values, sizeof values.value);
        return record.source == static_cast<std::uint32_t>(source) ? nullptr : kDoing;
      });
  return values;
}

}  // namespace reweave::core
