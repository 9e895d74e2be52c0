#include "recorder/core/schedule/process.h"

#include <sys/syscall.h>

#include <csignal>

#include "recorder/alive_processes.h"
#include "recorder/core/base/guarded_call.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/log/agree.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/recorded_switches.h"
#include "recorder/core/schedule/robust.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/live_threads.h"

#pragma GCC visibility push(hidden)
extern "C" void core_note_end(int wait_status);  // entry.S
#pragma GCC visibility pop

namespace reweave::core {

namespace {

void wake_address(std::uint64_t address) { wake(WaitKind::kFutex, object_key(address), 1); }

void clear_tid(const Thread& thread) {
  if (thread.clear_child_tid == 0 || region_at(thread.clear_child_tid) == nullptr) return;
  store_tid(thread.clear_child_tid, 0);
  wake_address(thread.clear_child_tid);
}

struct TidStore {
  std::uint64_t address;
  std::int32_t tid;
};

long write_tid(void* store) {
  const TidStore& to = *static_cast<TidStore*>(store);
  *reinterpret_cast<std::int32_t*>(to.address) = to.tid;
  return 0;
}

}  // namespace

bool memory_is_shared(const Process& target) { return reweave::memory_is_shared(state(), target); }

void store_tid(std::uint64_t address, std::int32_t tid) {
  if (address == 0) return;
  Thread& me = self();
  const std::uint64_t outer = me.call_frame;
  TidStore store = {address, tid};
  core_guarded(write_tid, &store, &me.call_frame);
  me.call_frame = outer;
}

void trace_thread_edge(EventKind kind, const Thread& thread) {
  if (!tracing()) return;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(16));
  words[0] = wire::pack_word0(kind, 0, 0, false);
  words[1] = wire::pack_word1(0, thread.id);
  publish_out(16);
}

void finish_thread(Thread& thread) {
  trace_thread_edge(EventKind::kEnd, thread);
  release_robust(thread);
  if (process().live_threads > 1 || memory_is_shared(process())) clear_tid(thread);
  wake(WaitKind::kVfork, vfork_key(thread), 1);
}

void release_vfork_parent() {
  Process& here = process();
  if (here.vfork_parent == 0) return;
  here.vfork_parent = 0;
  wake(WaitKind::kVfork, vfork_key(here), 1);
}

void log_death(const Process& target, int number) {
  RecordWriter record(wire::RecordKind::kProcessExit, wire::kOutsideThread, sizeof(wire::ProcessExitRecord), 0);
  auto& body = record.body<wire::ProcessExitRecord>();
  body.process = target.index;
  body.wait_status = number | wire::kKilledWithin;
  record.commit();
}

void forget_process(std::uint16_t index, std::int32_t wait_status) {
  Process& target = state().processes[index];
  if (target.alive == 0) return;
  mark_ended(state(), index);
  retire_process_threads(index, 0xffff);
  schedule_hooks.process_ended(index, wait_status);
  if (target.vfork_parent != 0) wake(WaitKind::kVfork, vfork_key(target), 1);
  target.vfork_parent = 0;
}

void repeat_outside_death(const wire::ProcessExitRecord& record) {
  if (record.process >= state().process_count) diverged("has no such process", &record.header);
  if ((record.wait_status & wire::kKilledWithin) != 0) release_robust_of(state().processes[record.process]);
  forget_process(static_cast<std::uint16_t>(record.process), record.wait_status & 0xffff);
  // SIGKILL ends the process even if it blocks the recorded signal. The first process's status is reported as recorded.
  if (record.process == 0) arena().status.first_killed.store(record.wait_status & 0x7f);
  if (record.process != self().process) sys(SYS_kill, state().processes[record.process].real_pid, SIGKILL);
}

void die_outside(const wire::ProcessExitRecord& record) {
  abandon_baton();
  die_by_signal(record.wait_status & 0x7f);
}

Thread* thread_by_tid(long tid, std::uint16_t pid_namespace) {
  RuntimeState& s = state();
  if (tid <= 0) return nullptr;
  for (Thread& thread : live_threads(s))
    if (id_seen_from(pid_namespace, thread) == tid) return &thread;
  return nullptr;
}

Process* process_by_pid(long pid, std::uint16_t pid_namespace) {
  RuntimeState& s = state();
  if (pid <= 0) return nullptr;
  return find_alive(s, [&](const Process& process) { return id_seen_from(pid_namespace, process) == pid; });
}

Thread* thread_by_tid(long tid) { return thread_by_tid(tid, process().pid_namespace); }
Process* process_by_pid(long pid) { return process_by_pid(pid, process().pid_namespace); }

void end_process(int wait_status) {
  Thread& me = self();
  core_note_end(wait_status);
  release_robust_of(process());
  agree<wire::ProcessExitRecord>(
      wire::RecordKind::kProcessExit, "ended its process",
      [&](wire::ProcessExitRecord& record) {
        record.process = me.process;
        record.wait_status = wait_status;
      },
      [wait_status](const wire::ProcessExitRecord& record) {
        return record.wait_status == wait_status ? nullptr : "ended its process with another status";
      });
  release_vfork_parent();
  mark_ended(state(), me.process);
  schedule_hooks.process_ended(me.process, wait_status);
  retire_process_threads(me.process, me.id);
  retire_self();
}

}  // namespace reweave::core
