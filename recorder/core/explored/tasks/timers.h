// Timers of explored runs that send signals: alarm(2), setitimer(2) of real time, timer_create(2) of clocks that all
// processes share. They expire in modelled time, so that an alarm interrupts a longer sleep in every run. Timers armed
// before the run act as recorded.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// `call` is an answered timer_create: from now on its timer is the run's own, if its kind allows that.
void note_timer(const Call& call);

// Removes the timers of a process that ends (`alarm_too`), or of one that executes a program, which keeps its alarm.
void forget_timers(std::uint16_t process, bool alarm_too);

// When the next one expires; kNoDeadline: never.
std::int64_t next_timer();
// Advances time until the next one expires, and sends its signal.
void fire_next_timer();

// True if such a timer, armed or yet to be armed, sends the signal.
bool is_of_timer(const wire::SignalRecord& signal);
// True if a timer that sends this signal was ever armed. / True if any timer is armed now.
bool timers_send(long number);
bool timers_are_armed();

}  // namespace reweave::core
