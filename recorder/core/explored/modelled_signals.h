// Signals that threads of an explored run send each other: nothing goes through the kernel. Those from outside come at
// the calls at which the recording has them.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

struct SignalInfo {  // siginfo_t
  std::int32_t words[32];
};

// Carries out a kill, tkill, tgkill or the like. False: it goes elsewhere.
bool send_modelled(const Call& call, int number, long& result);

// The calling thread gets a signal for what it did, as the kernel would send it.
void send_modelled_to_self(int number);

// A process gets a signal from what is no thread of the run.
void send_modelled_to_process(std::uint16_t index, const SignalInfo& info);
// Likewise, but one that would end the process does not come.
void send_modelled_to_any(std::uint16_t index, const SignalInfo& info);
// A thread does, if there is one of that number; whether it has yet to take such a signal, which its mask keeps back.
void send_modelled_to(std::int32_t tid, const SignalInfo& info);
bool is_pending_for(std::int32_t tid, int number);

// The calling process ignores the signal from now on.
void forget_pending_signal(int number);
// Delivers to the calling thread what its mask does not keep back any more.
void release_pending_signals();

// rt_sigtimedwait: waits for a signal of its set to be sent; logs the answer and returns it.
long wait_for_signal(Call& call);

// rt_sigsuspend, pause: waits until a handler is to run; logs the answer and returns it.
long wait_for_handler(Call& call);

}  // namespace reweave::core
