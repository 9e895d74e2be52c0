#include "recorder/core/thread_table.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/fatal.h"

#pragma GCC visibility push(hidden)
extern "C" void api_point();
extern "C" void api_stack();
extern "C" void api_call();
#pragma GCC visibility pop

namespace reweave::core {

Thread& add_thread(std::uint16_t process_index) {
  RuntimeState& s = state();
  if (s.thread_count >= kMaxThreads) stop_run(wire::OutcomeKind::kUnsupported, "more than 16384 threads in one run");
  Thread& thread = s.threads[s.thread_count];
  memset(static_cast<void*>(&thread), 0, sizeof thread);
  thread.self = &thread;
  thread.point_entry = reinterpret_cast<std::uint64_t>(&api_point);
  thread.stack_entry = reinterpret_cast<std::uint64_t>(&api_stack);
  thread.call_entry = reinterpret_cast<std::uint64_t>(&api_call);
  thread.id = static_cast<std::uint16_t>(s.thread_count++);
  thread.process = process_index;
  thread.stack_top = kStacksBase + (thread.id + 1) * kCoreStackBytes - 64;
  thread.state.store(ThreadState::kReady);
  s.live[s.live_threads++] = thread.id;
  s.processes[process_index].live_threads++;
  return thread;
}

void remove_live(ThreadId id) {
  RuntimeState& s = state();
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < s.live_threads; i++)
    if (s.live[i] != id) s.live[n++] = s.live[i];
  s.live_threads = n;
}

void retire_process_threads(std::uint16_t process_index, ThreadId except) {
  RuntimeState& s = state();
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    Thread& thread = s.threads[s.live[i]];
    if (thread.process == process_index && thread.id != except) {
      if (thread.state.load() == ThreadState::kBlocked) s.waiting_at[wait_slot(thread.wait.address)]--;
      thread.state.store(ThreadState::kExited);
      s.processes[process_index].live_threads--;
    } else {
      s.live[n++] = thread.id;
    }
  }
  s.live_threads = n;
}

void set_process_stopped(std::uint16_t process_index, bool stopped) {
  RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    Thread& thread = s.threads[s.live[i]];
    if (thread.process == process_index) thread.stopped = stopped ? 1 : 0;
  }
}

void try_stopped_process(std::uint16_t process_index) {
  RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    Thread& thread = s.threads[s.live[i]];
    if (thread.process != process_index) continue;
    thread.go.fetch_or(kGoAttention);
    sys(SYS_futex, &thread.go, FUTEX_WAKE, 1);
  }
}

}  // namespace reweave::core
