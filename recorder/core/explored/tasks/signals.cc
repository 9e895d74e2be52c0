#include "recorder/core/explored/tasks/signals.h"

#include <sys/syscall.h>

#include "recorder/alive_processes.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/tasks/members.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_effects.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr int kFirstRealTime = 32;

// Signals that were sent and are blocked by a mask, one bit each: to a thread, and to a process as a whole.
IN_MODEL std::uint64_t pending[kMaxThreads];
IN_MODEL std::uint64_t pending_anywhere[kMaxProcesses];
IN_MODEL std::uint64_t awaited[kMaxThreads];  // by rt_sigtimedwait

// A pending signal. Only real-time signals queue up.
struct Pending {
  std::uint64_t* of;    // its set; null: not in use
  std::uint64_t order;  // of arrival
  SignalInfo info;
};
constexpr std::uint32_t kMostPending = 1024;
IN_MODEL Pending all_pending[kMostPending];
IN_MODEL std::uint64_t arrivals;

void add_pending(std::uint64_t& set, const SignalInfo& info) {
  const int number = info.words[0];
  if (number < kFirstRealTime && (set & signal_bit(number)) != 0) return;
  for (Pending& entry : all_pending) {
    if (entry.of != nullptr) continue;
    entry = {&set, ++arrivals, info};
    set |= signal_bit(number);
    return;
  }
}

// Removes the first with that number from the set.
SignalInfo remove_pending(std::uint64_t& set, int number) {
  Pending* first = nullptr;
  std::uint32_t count = 0;
  for (Pending& entry : all_pending) {
    if (entry.of != &set || entry.info.words[0] != number) continue;
    count++;
    if (first == nullptr || entry.order < first->order) first = &entry;
  }
  if (count <= 1) set &= ~signal_bit(number);
  if (first == nullptr) return {{number}};
  first->of = nullptr;
  return first->info;
}

bool is_queued(const Thread& thread, int number) {
  for (std::uint32_t i = 0; number < kFirstRealTime && i < thread.queued.load(); i++)
    if (thread.signals[i].number == static_cast<std::uint32_t>(number)) return true;
  return false;
}

// The kernel delivers signals that an instruction may have caused first, then the lowest number (next_signal in its
// kernel/signal.c).
std::uint32_t rank(std::uint32_t number) {
  return is_synchronous(static_cast<int>(number)) || number == SIGSYS ? number : number + kSignalCount + 1;
}

bool has_room(const Thread& thread) { return thread.queued.load() + 8 < kSignalQueue; }

void queue_in_order(Thread& to, const SignalInfo& info) {
  const std::uint32_t before = to.queued.load();
  queue_signal(to, info.words[0], info.words, true);
  if (to.queued.load() == before) return;
  const QueuedSignal added = to.signals[before];
  std::uint32_t at = before;
  for (; at > 0 && rank(to.signals[at - 1].number) > rank(added.number); at--) to.signals[at] = to.signals[at - 1];
  to.signals[at] = added;
}

bool lets_through(const Thread& thread, int number) {
  return number == SIGKILL || (thread.signal_mask & signal_bit(number)) == 0;
}

bool awaits(const Thread& thread, int number) { return (awaited[thread.id] & signal_bit(number)) != 0; }

void send_to(Thread& to, const SignalInfo& info) {
  const int number = info.words[0];
  if (awaits(to, number) || !lets_through(to, number) || !has_room(to)) {
    add_pending(pending[to.id], info);
    if (awaits(to, number)) wake_sleeper(to);
    return;
  }
  if (!is_queued(to, number)) queue_in_order(to, info);
  if (to.state.load() == ThreadState::kBlocked && !is_uninterruptible(to.wait.kind)) to.expired.store(kInterruptedMark);
}

// Calls use(thread) for the threads of the process; returns the first for which it is true, or null.
template <typename Use>
Thread* find_thread(const Process& of, const Use& use) {
  for (Thread& thread : threads_of(state(), of))
    if (use(thread)) return &thread;
  return nullptr;
}

// Sends to a thread of the process: one that waits for the signal, else the first that does not block it. A signal that
// has no effect on the process is dropped.
void send_to_process(const Process& to, const SignalInfo& info) {
  const int number = info.words[0];
  if (Thread* thread = find_thread(to, [number](const Thread& of) { return awaits(of, number); }))
    return send_to(*thread, info);
  Thread* thread = find_thread(to, [number](const Thread& of) { return lets_through(of, number); });
  if (thread == nullptr) {
    return add_pending(pending_anywhere[to.index], info);
  }
  const DefaultAction effect = default_action(to, number);
  const bool harmless = effect == DefaultAction::kIgnore || effect == DefaultAction::kContinue;
  if (action_of(*thread, number).handler <= 1 && harmless) return;
  send_to(*thread, info);
}

// Takes the next pending signal of `set` for the thread; number 0: there is none.
SignalInfo take_pending(const Thread& me, std::uint64_t set) {
  for (std::uint64_t* from : {&pending[me.id], &pending_anywhere[me.process]}) {
    int next = 0;
    for (int number = 1; number <= kSignalCount; number++) {
      const auto rank_of = [](int of) { return rank(static_cast<std::uint32_t>(of)); };
      if ((*from & set & signal_bit(number)) != 0 && (next == 0 || rank_of(number) < rank_of(next))) next = number;
    }
    if (next != 0) return remove_pending(*from, next);
  }
  return {};
}

// Stopped processes are not modelled.
void refuse_stop(const Call& call, const Process& target, int number) {
  const bool stops = number != 0 && default_action(target, number) == DefaultAction::kStop;
  if (stops && state().run_is_tree != 0) leave_recording(call, "a stopped process is not modelled");
}

long send_to_group(const Call& call, long group, const SignalInfo& info) {
  long result = -ESRCH;
  for (const Process& target : alive_processes(state())) {
    if ((group == -1 && target.index == call.me.process)) continue;
    if (group != -1 && member(target.index).group != (group == 0 ? member(call.me.process).group : -group)) continue;
    refuse_stop(call, target, info.words[0]);
    if (info.words[0] != 0) send_to_process(target, info);
    result = 0;
  }
  return result;
}

// Returns the siginfo for the receiver: the caller's data, or the identity of the sender.
SignalInfo info_of(const Call& call, int number) {
  const CallPlaces& at = call.row->at;
  SignalInfo info = {{number, 0, at.tid < 0 ? 0 /* SI_USER */ : -6 /* SI_TKILL */, 0, process().pid,
                      static_cast<std::int32_t>(sys(SYS_getuid))}};
  if (at.info >= 0 && call.logged[at.info] != 0)
    memcpy(&info, reinterpret_cast<const void*>(call.logged[at.info]), sizeof info);
  info.words[0] = number;
  return info;
}

// pidfd_send_signal. False: the descriptor refers to no process of the run.
bool send_by_descriptor(const Call& call, int number, long& result) {
  const Descriptor* at = descriptor_at(call.logged[0]);
  const bool names = at != nullptr && at->kind == FileOf::kChannel && at->channel->kind == ChannelKind::kProcess;
  if (!names) return false;
  const Process& target = state().processes[at->channel->process];
  const bool gives = call.row->at.info >= 0 && call.logged[call.row->at.info] != 0;
  const bool fits = !gives || *reinterpret_cast<const std::int32_t*>(call.logged[call.row->at.info]) == number;
  if (number < 0 || number > kSignalCount || !fits || call.logged[3] != 0) return result = -EINVAL, true;
  if (target.alive == 0) return result = is_zombie(target.pid) ? 0 : -ESRCH, true;
  refuse_stop(call, target, number);
  if (number != 0) send_to_process(target, info_of(call, number));
  return result = 0, true;
}

}  // namespace

bool send_modelled(const Call& call, int number, long& result) {
  const CallPlaces& at = call.row->at;
  if ((call.row->flags & kFirstIsFd) != 0) return send_by_descriptor(call, number, result);
  if (number < 0 || number > kSignalCount) return result = -EINVAL, true;
  const SignalInfo info = info_of(call, number);
  const bool may_be_group = at.tid < 0 && at.info < 0;  // kill
  const long pid = at.pid < 0 ? 0 : call.logged[at.pid];
  if (may_be_group && pid <= 0)
    return (pid == 0 || state().run_is_tree != 0) && (result = send_to_group(call, pid, info), true);
  if (at.tid >= 0) {
    Thread* thread = thread_by_tid(call.logged[at.tid]);
    if (thread == nullptr) return state().run_is_tree != 0 && (result = -ESRCH, true);
    refuse_stop(call, state().processes[thread->process], number);
    if (number != 0) send_to(*thread, info);
    return result = 0, true;
  }
  const Process* target = process_by_pid(pid);
  if (target == nullptr) return state().run_is_tree != 0 && (result = is_zombie(pid) ? 0 : -ESRCH, true);
  refuse_stop(call, *target, number);
  if (number != 0) send_to_process(*target, info);
  return result = 0, true;
}

void send_modelled_to_self(int number) { send_to(self(), {{number, 0, -6 /* SI_TKILL */, 0, process().pid}}); }

void send_modelled_to_process(std::uint16_t index, const SignalInfo& info) {
  send_to_process(state().processes[index], info);
}

void send_modelled_to_any(std::uint16_t index, const SignalInfo& info) {
  const Process& to = state().processes[index];
  const int number = info.words[0];
  const bool is_awaited = find_thread(to, [number](const Thread& of) { return awaits(of, number); }) != nullptr;
  const Thread* open = find_thread(to, [number](const Thread& of) { return lets_through(of, number); });
  if (!is_awaited && open != nullptr && action_of(*open, number).handler <= 1) return;
  send_to_process(to, info);
}

void send_modelled_to(std::int32_t tid, const SignalInfo& info) {
  if (Thread* thread = thread_by_tid(tid)) send_to(*thread, info);
}

bool is_pending_for(std::int32_t tid, int number) {
  const Thread* thread = thread_by_tid(tid);
  return thread != nullptr && (pending[thread->id] & signal_bit(number)) != 0;
}

void forget_pending_signal(int number) {
  const auto forget = [number](std::uint64_t& set) {
    while ((set & signal_bit(number)) != 0) remove_pending(set, number);
  };
  for (const Thread& thread : threads_of(state(), process())) forget(pending[thread.id]);
  forget(pending_anywhere[self().process]);
}

bool explore_sigpending(Call& call, long& result) {
  const Thread& me = call.me;
  const auto bytes = static_cast<std::uint64_t>(call.logged[1]);
  if (bytes > sizeof(std::uint64_t)) return result = complete(call, -EINVAL), true;
  std::uint64_t set = pending[me.id] | pending_anywhere[me.process];
  for (std::uint32_t i = 0; i < me.queued.load(); i++)
    set |= me.signal_mask & signal_bit(static_cast<int>(me.signals[i].number));
  const auto address = static_cast<std::uint64_t>(call.logged[0]);
  memcpy(reinterpret_cast<void*>(address), &set, bytes);
  return result = log_value(call, 0, address, bytes), true;
}

void release_pending_signals() {
  Thread& me = self();
  while (has_room(me)) {
    const SignalInfo info = take_pending(me, ~me.signal_mask);
    if (info.words[0] == 0) return;
    queue_in_order(me, info);
  }
}

long wait_for_signal(Call& call) {
  const std::uint64_t set = *reinterpret_cast<const std::uint64_t*>(call.logged[0]);
  const std::int64_t deadline = end_of_signal_wait(call);
  awaited[call.me.id] = set;
  SignalInfo taken = take_pending(call.me, set);
  WaitResult ended = WaitResult::kWoken;
  while (taken.words[0] == 0 && ended == WaitResult::kWoken) {
    ended = sleep_modelled(deadline);
    taken = take_pending(call.me, set);
  }
  awaited[call.me.id] = 0;
  const int number = taken.words[0];
  const Output info = {static_cast<std::uint64_t>(call.logged[1]), 128};
  const bool tells = number != 0 && call.logged[1] != 0;
  if (tells) {
    memcpy(reinterpret_cast<void*>(info.address), &taken, sizeof taken);
  }
  const long result = number != 0 ? number : ended == WaitResult::kInterrupted ? -EINTR : -EAGAIN;
  log_call(call, result, &info, tells ? 1 : 0);
  return result;
}

long wait_for_handler(Call& call) {
  release_pending_signals();
  while (!signal_due(call.me) && sleep_modelled(kNoDeadline) != WaitResult::kInterrupted) {
  }
  log_call(call, -EINTR, nullptr, 0);
  return -EINTR;
}

}  // namespace reweave::core
