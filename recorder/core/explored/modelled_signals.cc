#include "recorder/core/explored/modelled_signals.h"

#include <sys/syscall.h>

#include "recorder/core/explored/modelled_time.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Sent and kept back by a mask, by thread; and to the process as a whole. Explored runs have one process.
std::uint64_t pending[kMaxThreads];
std::uint64_t pending_anywhere;
std::uint64_t awaited[kMaxThreads];  // by rt_sigtimedwait
SignalInfo told[kSignalCount + 1];   // with the last signal of each number

SignalInfo by_thread(int number) { return {{number, 0, -6 /* SI_TKILL */, 0, process().pid}}; }

// Those that are no real-time signals do not queue up.
bool is_queued(const Thread& thread, int number) {
  constexpr int kFirstRealTime = 32;
  for (std::uint32_t i = 0; number < kFirstRealTime && i < thread.queued.load(); i++)
    if (thread.signals[i].number == static_cast<std::uint32_t>(number)) return true;
  return false;
}

void send_to(Thread& to, const SignalInfo& info) {
  const int number = info.words[0];
  const std::uint64_t bit = signal_bit(number);
  told[number] = info;
  if ((awaited[to.id] & bit) != 0 || (to.signal_mask & bit) != 0) {
    pending[to.id] |= bit;
    if ((awaited[to.id] & bit) != 0) wake_sleeper(to);
    return;
  }
  if (!is_queued(to, number)) queue_signal(to, number, info.words, true);
  if (to.state.load() == ThreadState::kBlocked && !is_uninterruptible(to.wait.kind)) to.expired.store(kInterruptedMark);
}

// Of the threads that the signal may go to: one that waits for it, else the first that lets it through.
void send_to_any(const SignalInfo& info) {
  const RuntimeState& s = state();
  const std::uint64_t bit = signal_bit(info.words[0]);
  for (const bool waiting : {true, false})
    for (std::uint32_t i = 0; i < s.live_threads; i++) {
      Thread& thread = thread_of(s.live[i]);
      if (waiting ? (awaited[thread.id] & bit) != 0 : (thread.signal_mask & bit) == 0) return send_to(thread, info);
    }
  told[info.words[0]] = info;
  pending_anywhere |= bit;
}

int take_pending(const Thread& me, std::uint64_t set) {
  for (std::uint64_t* from : {&pending[me.id], &pending_anywhere})
    for (int number = 1; number <= kSignalCount; number++)
      if ((*from & set & signal_bit(number)) != 0) {
        *from &= ~signal_bit(number);
        return number;
      }
  return 0;
}

}  // namespace

bool send_modelled(const Call& call, int number) {
  if (number < 0 || number > kSignalCount) return false;
  const CallPlaces& at = call.row->at;
  const bool is_plain = at.info < 0;  // kill, tkill, tgkill
  const bool to_process = is_plain && at.tid < 0;
  const long target = call.logged[is_plain && at.tid > 0 ? at.tid : 0];
  if (to_process && target != process().pid) return false;
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    Thread& thread = thread_of(s.live[i]);
    if (!to_process && thread.tid != target) continue;
    if (number != 0) to_process ? send_to_any(by_thread(number)) : send_to(thread, by_thread(number));
    return true;
  }
  return false;
}

void send_modelled_to_self(int number) { send_to(self(), by_thread(number)); }

void send_modelled_to_any(const SignalInfo& info) {
  const RuntimeState& s = state();
  const std::uint64_t bit = signal_bit(info.words[0]);
  bool awaited_somewhere = false, let_through = false;
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    const Thread& thread = thread_of(s.live[i]);
    awaited_somewhere = awaited_somewhere || (awaited[thread.id] & bit) != 0;
    let_through = let_through || (thread.signal_mask & bit) == 0;
  }
  if (let_through && !awaited_somewhere && signal_action(info.words[0]).handler <= 1) return;
  send_to_any(info);
}

void send_modelled_to(std::int32_t tid, const SignalInfo& info) {
  if (Thread* thread = thread_by_tid(tid)) send_to(*thread, info);
}

bool is_pending_for(std::int32_t tid, int number) {
  const Thread* thread = thread_by_tid(tid);
  return thread != nullptr && (pending[thread->id] & signal_bit(number)) != 0;
}

void release_pending_signals() {
  Thread& me = self();
  while (const int number = take_pending(me, ~me.signal_mask)) queue_signal(me, number, told[number].words, true);
}

long wait_for_signal(Call& call) {
  const std::uint64_t set = *reinterpret_cast<const std::uint64_t*>(call.logged[0]);
  const std::int64_t deadline = end_of_signal_wait(call);
  awaited[call.me.id] = set;
  int number = take_pending(call.me, set);
  WaitResult ended = WaitResult::kWoken;
  while (number == 0 && ended == WaitResult::kWoken) {
    ended = sleep_modelled(deadline);
    number = take_pending(call.me, set);
  }
  awaited[call.me.id] = 0;
  const Output info = {static_cast<std::uint64_t>(call.logged[1]), 128};
  const bool tells = number != 0 && call.logged[1] != 0;
  if (tells) {
    memcpy(reinterpret_cast<void*>(info.address), told[number].words, sizeof told[number].words);
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
