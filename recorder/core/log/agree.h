// Agreeing with the recording, asked in one place for every mode: recording, and in an explored run, a record says what
// this thread does now; replaying, the next record must say the same, and tells what this run cannot know.
//
// Calls are agreed on by their own records: complete() and tell() of syscalls/call.h for those that every mode carries
// out, recorded_call() for those that only the kernel can answer, as handlers of kind kAsked make them
// (syscalls/table.h).
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"

namespace reweave::core {

// `say(record)` fills in a record, which is all 0. `hear(record)` takes over what was recorded, and returns null, or
// what the thread does otherwise than recorded. `doing` is what it does where the recording has another record.
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

// The path by which the calling process begins a program; replaying, the recorded one, for the program can see it.
const char* agree_on_program(const char* path, const char* doing);

}  // namespace reweave::core
