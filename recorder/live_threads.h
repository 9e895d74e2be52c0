// The threads that have not exited: all of the run in order of their IDs, and those of each process in order of
// creation.
//
// Thread rule: only the baton holder changes these, and only it walks over the threads of one process. Others, such as
// the supervisor, may walk over all threads meanwhile.
#pragma once

#include "recorder/runtime_state.h"
#include "recorder/wait_queues.h"

namespace reweave {

// Until IDs are reused, this is the order of creation.
inline Members<Thread, kMaxThreads> live_threads(RuntimeState& state) {
  return {state.threads, state.live, state.thread_count};
}
inline Members<const Thread, kMaxThreads> live_threads(const RuntimeState& state) {
  return {state.threads, state.live, state.thread_count};
}

// The threads in RuntimeState::awake.
inline Members<Thread, kMaxThreads> awake_threads(RuntimeState& state) {
  return {state.threads, state.awake, state.thread_count};
}
inline Members<const Thread, kMaxThreads> awake_threads(const RuntimeState& state) {
  return {state.threads, state.awake, state.thread_count};
}

// The live threads of one process: for (Thread& thread : threads_of(...)). The walk may remove the thread that it is
// at.
class ThreadsOfProcess {
 public:
  class Iterator {
   public:
    Iterator(RuntimeState& state, std::uint16_t at) : state_(state), at_(at) { look_ahead(); }
    Thread& operator*() const { return state_.threads[at_ - 1]; }
    Iterator& operator++() {
      at_ = next_;
      look_ahead();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    void look_ahead() { next_ = at_ == 0 ? 0 : state_.threads[at_ - 1].next_of_process; }

    RuntimeState& state_;
    std::uint16_t at_, next_ = 0;  // ID + 1; 0: the end
  };

  ThreadsOfProcess(RuntimeState& state, const Process& process) : state_(state), first_(process.first_thread) {}
  Iterator begin() const { return {state_, first_}; }
  Iterator end() const { return {state_, 0}; }

 private:
  RuntimeState& state_;
  std::uint16_t first_;
};

inline ThreadsOfProcess threads_of(RuntimeState& state, const Process& process) { return {state, process}; }

inline void add_live(RuntimeState& state, Thread& thread) {
  Process& process = state.processes[thread.process];
  const auto own = static_cast<std::uint16_t>(thread.id + 1);
  thread.previous_of_process = process.last_thread;
  thread.next_of_process = 0;
  (process.last_thread == 0 ? process.first_thread : state.threads[process.last_thread - 1].next_of_process) = own;
  process.last_thread = own;
  process.live_threads++;
  state.live.add(thread.id);
  state.live_threads++;
}

// Descriptor tables are counted while live threads use them.
inline void use_fd_table(RuntimeState& state, Thread& thread, std::uint32_t table) {
  thread.fd_table = table;
  state.fd_tables[table].users++;
  state.fd_tables_in_use.add(table);
}
inline void leave_fd_table(RuntimeState& state, const Thread& thread) {
  if (--state.fd_tables[thread.fd_table].users == 0) state.fd_tables_in_use.remove(thread.fd_table);
}

// Removes a thread that has exited, or was killed and may have been waiting.
inline void remove_live(RuntimeState& state, Thread& thread, ThreadState now) {
  Process& process = state.processes[thread.process];
  const std::uint16_t before = thread.previous_of_process, after = thread.next_of_process;
  if (thread.state.load() == ThreadState::kBlocked) leave_wait_queue(state, thread);
  thread.state.store(now);
  (before == 0 ? process.first_thread : state.threads[before - 1].next_of_process) = after;
  (after == 0 ? process.last_thread : state.threads[after - 1].previous_of_process) = before;
  process.live_threads--;
  state.live.remove(thread.id);
  state.live_threads--;
  leave_fd_table(state, thread);
}

// The ID of a thread that has exited may be given to a new one.
inline void note_unused_id(RuntimeState& state, ThreadId id) {
  state.ended[(state.next_ended + state.ended_threads++) % kMaxThreads] = id;
}

}  // namespace reweave
