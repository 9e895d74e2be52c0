// Timers of explored runs that send signals: alarm(2), setitimer(2) of real time, timer_create(2) of clocks that all
// processes share. They run out in the modelled time, so that a sleep which is longer than an alarm is interrupted by
// it in every run. Those armed before the run act as the recording has it.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// `call` is a timer_create that was answered: its timer is the run's own from now on, if it is of a kind that can be.
void note_timer(const Call& call);

// A process ends, or executes a program (then its alarm stays).
void forget_timers(std::uint16_t process, bool alarm_too);

// When the next one runs out; kNoDeadline: never.
std::int64_t next_timer();
// Time passes until the next one runs out, and its signal is sent.
void fire_next_timer();

// The signal is sent by such a timer: armed, or still to be.
bool is_of_timer(const wire::SignalRecord& signal);
// Such a timer was armed that sends this signal; is armed.
bool timers_send(long number);
bool timers_are_armed();

}  // namespace reweave::core
