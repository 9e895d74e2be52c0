// Agreement with the recording, in one place for every mode. When recording, and in an explored run, a record says what
// this thread does now. When replaying, the next record must say the same, and supplies what this run cannot know.
//
// System calls have records of their own. complete() and tell() of syscalls/call.h log calls that are carried out in
// every mode. recorded_call() and handlers of kind kAsked (syscalls/table.h) make and log calls that only the kernel
// can answer.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"

namespace reweave::core {

// `say(record)` fills in a zeroed record. `hear(record)` gets the recorded values and returns null, or a description of
// how the thread departs from them. `doing` describes the thread's action if the recording has a record of another kind
// here.
template <typename Record, typename Say, typename Hear>
void agree(wire::RecordKind kind, const char* doing, Say say, Hear hear) {
  if (replaying()) {
    const auto& record = expect<Record>(kind, doing);
    if (const char* otherwise = hear(record)) diverged(otherwise, &record.header);
    return consume_record();
  }
  Record said = {};
  say(said);
  RecordWriter record(kind, self().id, sizeof said, 0);
  memcpy(&record.body<wire::RecordHeader>() + 1, &said.header + 1, sizeof said - sizeof said.header);
  record.commit();
}

// The path by which the calling process starts a program; in a replay the recorded path, because the program can see
// it.
const char* agree_on_program(const char* path, const char* doing);

}  // namespace reweave::core
