#include "recorder/core/explored/recorded/processes.h"

#include "recorder/core/explored/model_memory.h"

namespace reweave::core {

namespace {

struct Spawned {
  std::int32_t number;
  ThreadId child;
  bool is_process, taken;
  std::uint32_t next;  // of the same creator, plus one
};
IN_MODEL Spawned spawned[kMaxThreads];
IN_MODEL std::uint32_t spawned_count;
IN_MODEL std::uint32_t first_of[kMaxThreads], last_of[kMaxThreads];  // by recorded creator, plus one
IN_MODEL std::uint16_t process_of[kMaxThreads];                      // by recorded thread
IN_MODEL std::uint32_t twins[kMaxThreads];                           // by thread of the run, plus one
IN_MODEL std::int32_t highest_number;  // of the recording, and of those assigned beyond it

void note_number(std::int32_t number) {
  if (number > highest_number) highest_number = number;
}

}  // namespace

void note_first_threads() {
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.thread_count; i++) {
    process_of[i] = s.threads[i].process;
    twins[i] = i + 1;
    note_number(s.threads[i].tid);
  }
}

void note_recorded_spawn(const wire::SpawnRecord& record) {
  const ThreadId creator = record.header.thread;
  const bool is_sound = creator < kMaxThreads && record.child < kMaxThreads && record.process < kMaxProcesses;
  if (!is_sound || spawned_count == kMaxThreads) return;
  process_of[record.child] = record.process;
  note_number(record.tid);
  const bool is_process = record.kind != static_cast<std::uint32_t>(wire::SpawnKind::kThread);
  const auto number = static_cast<std::int32_t>(record.inner_tid != 0 ? record.inner_tid : record.tid);
  spawned[spawned_count++] = {number, static_cast<ThreadId>(record.child), is_process, false, 0};
  if (first_of[creator] == 0)
    first_of[creator] = spawned_count;
  else
    spawned[last_of[creator] - 1].next = spawned_count;
  last_of[creator] = spawned_count;
}

std::uint16_t recorded_process_of(ThreadId recorded) {
  return recorded < kMaxThreads ? process_of[recorded] : std::uint16_t{0};
}

bool is_recorded_pid(long pid) {
  if (pid == state().processes[0].pid) return true;
  for (std::uint32_t i = 0; i < spawned_count; i++)
    if (spawned[i].is_process && spawned[i].number == pid) return true;
  return false;
}

ThreadId recorded_twin(const Thread& thread) {
  return twins[thread.id] == 0 ? kNoThread : static_cast<ThreadId>(twins[thread.id] - 1);
}

std::int32_t number_of_new(const Thread& creator, const Thread& child) {
  const ThreadId recorded = recorded_twin(creator);
  const bool is_process = child.process != creator.process;
  twins[child.id] = 0;
  for (std::uint32_t i = recorded == kNoThread ? 0 : first_of[recorded]; i != 0; i = spawned[i - 1].next) {
    Spawned& candidate = spawned[i - 1];
    if (candidate.taken || candidate.is_process != is_process) continue;
    candidate.taken = true;
    twins[child.id] = candidate.child + 1u;
    return candidate.number;
  }
  return ++highest_number;
}

}  // namespace reweave::core
