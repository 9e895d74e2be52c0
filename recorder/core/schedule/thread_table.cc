#include "recorder/core/schedule/thread_table.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/open_own.h"
#include "recorder/live_threads.h"
#include "recorder/waiting.h"

#pragma GCC visibility push(hidden)
extern "C" void api_point();
extern "C" void api_stack();
extern "C" void api_call();
#pragma GCC visibility pop

namespace reweave::core {

char kernel_state(const Thread& thread) {
  Text name;
  name << state().processes[thread.process].real_pid << "/task/" << thread.real_tid << "/stat";
  const long stat = open_own(kProcFd, name.c_str(), 0);
  if (is_error(stat)) return 0;
  char text[128];
  const long bytes = sys(SYS_read, stat, text, sizeof text - 1);
  sys(SYS_close, stat);
  text[is_error(bytes) ? 0 : bytes] = 0;
  const char* end = text;  // end of the name, which may contain parentheses
  for (const char* p = text; *p != 0; p++)
    if (*p == ')') end = p;
  return *end == ')' && end[1] != 0 ? end[2] : 0;
}

namespace {

// An exiting thread has its core stack and its slot until the kernel has finished with it.
bool is_gone(const Thread& thread) {
  const char state = kernel_state(thread);
  return state == 0 || state == 'Z' || state == 'X';
}

void wait_until_gone(const Thread& thread) {
  constexpr std::uint32_t kTries = 200;  // its ID may belong to another thread by now
  const long pause[2] = {0, 500'000};
  for (std::uint32_t i = 0; i < kTries && !is_gone(thread); i++) sys(SYS_nanosleep, pause, nullptr);
}

// The ID of a new thread. When all have been assigned, reuses that of the thread that ended longest ago; a replay does
// the same. A trace and searches over many runs identify threads by their IDs.
ThreadId new_id() {
  RuntimeState& s = state();
  if (s.thread_count < kMaxThreads) return static_cast<ThreadId>(s.thread_count++);
  if (tracing() || modelled())
    stop_run(wire::OutcomeKind::kUnsupported, "more than 16384 threads in one run cannot be traced or explored");
  if (s.ended_threads == 0) stop_run(wire::OutcomeKind::kUnsupported, "more than 16384 threads at a time");
  const ThreadId id = s.ended[s.next_ended];
  s.next_ended = (s.next_ended + 1) % kMaxThreads;
  s.ended_threads--;
  wait_until_gone(s.threads[id]);
  return id;
}

}  // namespace

void give_back(Thread& thread) {
  RuntimeState& s = state();
  remove_live(s, thread, ThreadState::kUnused);
  if (thread.id + 1u == s.thread_count) {
    s.thread_count--;
    return;
  }
  s.next_ended = (s.next_ended + kMaxThreads - 1) % kMaxThreads;
  s.ended[s.next_ended] = thread.id;
  s.ended_threads++;
}

Thread& add_thread(std::uint16_t process_index) {
  RuntimeState& s = state();
  const ThreadId id = new_id();
  Thread& thread = s.threads[id];
  memset(static_cast<void*>(&thread), 0, sizeof thread);
  thread.self = &thread;
  thread.point_entry = reinterpret_cast<std::uint64_t>(&api_point);
  thread.stack_entry = reinterpret_cast<std::uint64_t>(&api_stack);
  thread.call_entry = reinterpret_cast<std::uint64_t>(&api_call);
  thread.id = id;
  thread.process = process_index;
  thread.stack_top = kStacksBase + (thread.id + 1) * kCoreStackBytes - 64;
  thread.state.store(ThreadState::kReady);
  s.awake.add(id);
  add_live(s, thread);
  return thread;
}

void retire(Thread& thread) {
  RuntimeState& s = state();
  if (!s.live.has(thread.id)) return;
  remove_live(s, thread, ThreadState::kExited);
  note_unused_id(s, thread.id);
}

void retire_process_threads(std::uint16_t process_index, ThreadId except) {
  RuntimeState& s = state();
  for (Thread& thread : threads_of(s, s.processes[process_index]))
    if (thread.id != except) retire(thread);
}

bool is_stopped(const Thread& thread) { return reweave::is_stopped(state(), thread); }

void set_process_stopped(std::uint16_t process_index, bool stopped) {
  RuntimeState& s = state();
  for (Thread& thread : threads_of(s, s.processes[process_index])) thread.stopped = stopped ? 1 : 0;
}

void look_again(std::uint16_t process_index) {
  RuntimeState& s = state();
  for (Thread& thread : live_threads(s)) {  // the baton holder may be changing the list of the process
    const ThreadState now = thread.state.load();
    if (thread.process != process_index || (now != ThreadState::kReady && now != ThreadState::kBlocked)) continue;
    thread.go.fetch_or(kGoAttention);
    sys(SYS_futex, &thread.go, FUTEX_WAKE, 1);
  }
}

}  // namespace reweave::core
