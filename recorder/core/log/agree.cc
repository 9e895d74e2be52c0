#include "recorder/core/log/agree.h"

namespace reweave::core {

const char* agree_on_program(const char* path, const char* doing) {
  static char recorded[4096];
  if (replaying()) {
    const auto& record = expect<wire::ExecRecord>(wire::RecordKind::kExec, doing);
    const std::uint64_t room = record.header.bytes - sizeof record;
    copy_string(recorded, room < sizeof recorded ? room : sizeof recorded, reinterpret_cast<const char*>(&record + 1));
    consume_record();
    return recorded;
  }
  RecordWriter record(wire::RecordKind::kExec, self().id, sizeof(wire::ExecRecord), string_length(path) + 1);
  record.body<wire::ExecRecord>().process = self().process;
  record.body<wire::ExecRecord>().reserved = 0;
  record.append_path(path);
  record.commit();
  return path;
}

}  // namespace reweave::core
