#include "recorder/core/log/inputs.h"

#include "recorder/core/log/log.h"

namespace reweave::core {

InputValues recorded_input(wire::InputSource source) {
  constexpr char kDoing[] = "asked the processor";
  const auto& record = expect<wire::InputRecord>(wire::RecordKind::kInput, kDoing);
  if (record.source != static_cast<std::uint32_t>(source)) diverged(kDoing, &record.header);
  InputValues values;
  memcpy(values.value, record.values, sizeof values.value);
  consume_record();
  return values;
}

void log_input(wire::InputSource source, const InputValues& values) {
  RecordWriter record(wire::RecordKind::kInput, self().id, sizeof(wire::InputRecord), 0);
  auto& body = record.body<wire::InputRecord>();
  body.source = static_cast<std::uint32_t>(source);
  body.reserved = 0;
  memcpy(body.values, values.value, sizeof body.values);
  record.commit();
}

}  // namespace reweave::core
