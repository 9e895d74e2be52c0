// Signals between threads of an explored run; none goes through the kernel. Signals from outside arrive at the same
// calls as in the recording.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

struct SignalInfo {  // siginfo_t
  std::int32_t words[32];
};

// Carries out a kill, tkill, tgkill or the like. False: the target is not modelled.
bool send_modelled(const Call& call, int number, long& result);

// Sends the calling thread a signal for its own action, as the kernel would.
void send_modelled_to_self(int number);

// Sends a process a signal that comes from no thread of the run.
void send_modelled_to_process(std::uint16_t index, const SignalInfo& info);
// Likewise, but not if the signal would end the process.
void send_modelled_to_any(std::uint16_t index, const SignalInfo& info);
// The same for the thread with that ID, if there is one. / True if such a signal is pending for it.
void send_modelled_to(std::int32_t tid, const SignalInfo& info);
bool is_pending_for(std::int32_t tid, int number);

// The calling process ignores the signal from now on: drops it if pending.
void forget_pending_signal(int number);
// Delivers pending signals that the calling thread's mask no longer blocks.
void release_pending_signals();

// rt_sigtimedwait: waits for a signal of its set; logs the answer and returns it.
long wait_for_signal(Call& call);

// rt_sigsuspend, pause: waits until a handler is about to run; logs the answer and returns it.
long wait_for_handler(Call& call);

}  // namespace reweave::core
