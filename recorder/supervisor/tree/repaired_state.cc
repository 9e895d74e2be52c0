#include "recorder/supervisor/tree/repaired_state.h"

#include <algorithm>
#include <vector>

#include "recorder/alive_processes.h"
#include "recorder/live_threads.h"

namespace reweave {

namespace {

void forget_all(RuntimeState& state) {
  for (std::uint32_t i = 0; i < std::min(state.process_count, kMaxProcesses); i++) {
    Process& process = state.processes[i];
    process.memory_users = process.live_threads = process.first_thread = process.last_thread = 0;
  }
  for (std::uint32_t i = 0; i < std::min(state.fd_tables_used, kMaxFdTables); i++) {
    state.fd_tables[i].users = 0;
    state.fd_tables_in_use.remove(i);
  }
  std::ranges::fill(state.wait_queues, WaitQueue{});
  std::ranges::fill(state.waiting_at, std::uint16_t{0});
  state.vector_waits = {};
  for (std::uint32_t i = 0; i < std::min(state.thread_count, kMaxThreads); i++) state.waiting_for_owner.remove(i);
  state.alive_count = state.live_threads = 0;
}

// False if the program has overwritten the thread's numbers, which is then left out.
bool is_whole(const RuntimeState& state, const Thread& thread) {
  return thread.id < kMaxThreads && &thread == &state.threads[thread.id] && thread.process < kMaxProcesses &&
         thread.fd_table < kMaxFdTables;
}

}  // namespace

void repair_state(RuntimeState& state) {
  forget_all(state);
  for (const Process& process : alive_processes(state)) {
    if (process.memory_of < kMaxProcesses) state.processes[process.memory_of].memory_users++;
    state.alive_count++;
  }
  std::vector<Thread*> waiting;
  for (Thread& thread : live_threads(state)) {
    if (!is_whole(state, thread)) continue;
    add_live(state, thread);
    use_fd_table(state, thread, thread.fd_table);
    if (thread.state.load() == ThreadState::kBlocked) waiting.push_back(&thread);
  }
  std::ranges::sort(waiting, {}, [](const Thread* thread) { return thread->wait.order; });
  for (Thread* thread : waiting) enter_wait_queue(state, *thread);
}

}  // namespace reweave
