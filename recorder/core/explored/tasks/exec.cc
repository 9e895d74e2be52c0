#include "recorder/core/explored/tasks/exec.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/calls.h"
#include "recorder/core/explored/recorded/matching.h"
#include "recorder/core/explored/recorded/processes.h"
#include "recorder/core/explored/tasks/processes.h"
#include "recorder/core/explored/tasks/timers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// By thread that executes a program: where in the recording to look for its next file, and the recorded thread of that
// file.
struct Loading {
  std::uint64_t offset;
  ThreadId recorded;
};
IN_MODEL Loading loading[kMaxThreads];

// The recorded execution of that name: by the thread to which the caller corresponds, else one not used yet, else any.
RecordedCall* find_execution(const Call& call) {
  const Asked asked = asked_by(call);
  const ThreadId twin = recorded_twin(call.me);
  RecordedCall *unused = nullptr, *any = nullptr;
  for (RecordedCall* entry = first_recorded(call.number); entry != nullptr; entry = next_recorded(*entry)) {
    if (!answers(asked, *entry)) continue;
    if (!entry->used && entry->thread == twin) return entry;
    if (!entry->used && unused == nullptr) unused = entry;
    any = entry;
  }
  return unused != nullptr ? unused : any;
}

}  // namespace

long execute_modelled(const Call& call) {
  RecordedCall* entry = find_execution(call);
  if (entry == nullptr) leave_recording(call, "it executes a program that the recorded run did not");
  entry->used = true;
  const long recorded = record_of(*entry).result;
  if (is_error(recorded)) return recorded;
  become_tree();
  loading[call.me.id] = {entry->offset, entry->thread};
  return 0;
}

const wire::MapFileRecord* next_recorded_image() {
  Loading& from = loading[self().id];
  const std::uint64_t end = arena().feed.head.load();
  while (from.offset < end) {
    const wire::RecordHeader* record = record_at(from.offset);
    from.offset += record->bytes;
    if (record->thread == from.recorded && record->kind == static_cast<std::uint16_t>(wire::RecordKind::kMapFile))
      return &wire::record_cast<wire::MapFileRecord>(*record);
  }
  return nullptr;
}

void begin_modelled_image() {
  close_on_exec();
  forget_timers(self().process, false);
}

}  // namespace reweave::core
