// Tracing: functions that note the effects of a call on other threads; rows of the table name them
// (kernel_step_rows.inc).
#pragma once

namespace reweave::core {

struct Call;

// kernel_steps.cc
void before_close(const Call&);
void before_dup_onto(const Call&);
void before_sendmsg(const Call&);
void before_listen(const Call&);
void before_exec(const Call&);
void before_exit(const Call&);
void give_semaphores_by_list(const Call&);
void give_semaphores_by_command(const Call&);
void before_fcntl(const Call&);
void before_flock(const Call&);
void before_futex(const Call&);
void before_exit_group(const Call&);
void before_sendmmsg(const Call&);
void before_close_range(const Call&);
void after_ioctl(const Call&, long result);
void after_recvmsg(const Call&, long result);
void after_wait4(const Call&, long result);
void take_semaphores_by_list(const Call&, long result);
void take_semaphores_by_command(const Call&, long result);
void after_fcntl(const Call&, long result);
void after_flock(const Call&, long result);
void after_futex(const Call&, long result);
void after_recvmmsg(const Call&, long result);

// kernel_steps_made.cc
void before_open(const Call&);
void before_openat(const Call&);
void after_open(const Call&, long result);
void after_openat(const Call&, long result);
void after_pipe(const Call&, long result);
void after_socketpair(const Call&, long result);
void after_counter(const Call&, long result);
void after_socket(const Call&, long result);
void after_accept(const Call&, long result);
void after_signalfd(const Call&, long result);
void after_mq_open(const Call&, long result);
void after_mknod(const Call&, long result);
void after_mknodat(const Call&, long result);
void after_epoll_ctl(const Call&, long result);
void after_dup(const Call&, long result);

// kernel_steps_ready.cc
void after_poll(const Call&, long result);
void after_select(const Call&, long result);
void after_epoll_wait(const Call&, long result);

}  // namespace reweave::core
