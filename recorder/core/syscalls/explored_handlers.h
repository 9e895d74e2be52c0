// Functions by which explored runs answer calls without the recording; the rows of the table name them
// (explored_rows.inc). False: the function does not apply to this call, and the search for an answer continues. The
// functions are in the files of core/explored that are named here, unless stated otherwise.
#pragma once

namespace reweave::core {

struct Call;

// files/own_descriptors.cc
bool explore_pipe(Call&, long& result);
bool explore_socketpair(Call&, long& result);
bool explore_eventfd(Call&, long& result);
bool explore_epoll(Call&, long& result);
bool explore_open(Call&, long& result);  // files/unrecorded.cc
bool explore_close(Call&, long& result);
bool explore_dup(Call&, long& result);
bool explore_fcntl(Call&, long& result);
bool explore_ioctl(Call&, long& result);
bool explore_seek(Call&, long& result);
bool explore_invalid(Call&, long& result);
bool explore_close_range(Call&, long& result);
bool explore_setsockopt(Call&, long& result);
bool explore_getsockopt(Call&, long& result);

// files/transfers.cc
bool explore_vmsplice(Call&, long& result);

// tasks/timers.cc
bool explore_alarm(Call&, long& result);
bool explore_setitimer(Call&, long& result);
bool explore_getitimer(Call&, long& result);
bool explore_timer_settime(Call&, long& result);
bool explore_timer_gettime(Call&, long& result);
bool explore_timer_getoverrun(Call&, long& result);
bool explore_timer_delete(Call&, long& result);

// tasks/processes.cc
bool explore_wait(Call&, long& result);
bool explore_pidfd_open(Call&, long& result);
bool explore_getppid(Call&, long& result);
bool explore_setpgid(Call&, long& result);
bool explore_setsid(Call&, long& result);
bool explore_getpgrp(Call&, long& result);
bool explore_getpgid(Call&, long& result);
bool explore_getsid(Call&, long& result);

// tasks/signals.cc
bool explore_sigpending(Call&, long& result);

// questions.cc
bool explore_question(Call&, long& result);
bool explore_question_of_path(Call&, long& result);
bool explore_setrlimit(Call&, long& result);
bool explore_prlimit(Call&, long& result);

// misc.cc of this folder
bool explore_prctl(Call&, long& result);

// model.cc
bool explore_clock_gettime(Call&, long& result);
bool explore_gettimeofday(Call&, long& result);
bool explore_time(Call&, long& result);
bool explore_getpid(Call&, long& result);
bool explore_gettid(Call&, long& result);
bool explore_sleep(Call&, long& result);
bool explore_getrandom(Call&, long& result);

}  // namespace reweave::core
