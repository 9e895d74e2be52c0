// The handlers named by rows of the table, grouped by family.
#pragma once

namespace reweave::core {

struct Call;

// memory.cc
long handle_mmap(Call&);
long handle_munmap(Call&);
long handle_brk(Call&);
long handle_mlockall(Call&);
long handle_munlockall(Call&);

// protection.cc
long handle_mprotect(Call&);
long handle_pkey_alloc(Call&);
long handle_pkey_free(Call&);
long handle_mseal(Call&);

// advice.cc
long handle_madvise(Call&);

// mremap.cc
long handle_mremap(Call&);
long handle_remap_file_pages(Call&);

// process_memory.cc
long handle_process_vm_writev(Call&);
long handle_process_madvise(Call&);

// clone.cc
long handle_clone(Call&);
long handle_clone3(Call&);
long handle_fork(Call&);
long handle_vfork(Call&);
// exit.cc
long handle_exit(Call&);
long handle_exit_group(Call&);

// thread_attributes.cc
long handle_set_tid_address(Call&);
long handle_set_robust_list(Call&);
long handle_get_robust_list(Call&);
long handle_arch_prctl(Call&);

// futex.cc
long handle_futex(Call&);
long handle_futex_waitv(Call&);

// signal_calls.cc
long handle_rt_sigaction(Call&);
long handle_rt_sigprocmask(Call&);
long handle_restart_syscall(Call&);
long handle_rt_sigpending(Call&);
long handle_rt_sigtimedwait(Call&);
long handle_sigaltstack(Call&);

long handle_with_temporary_mask(Call&);

// image/exec.cc
long handle_execve(Call&);
long handle_execveat(Call&);

// sysv.cc
long handle_shmat(Call&);
long handle_shmdt(Call&);
long handle_shmctl(Call&);
long handle_semctl(Call&);
long handle_msgctl(Call&);

// attributes.cc
long handle_getrlimit(Call&);
long handle_setrlimit(Call&);
long handle_prlimit64(Call&);
long handle_capget(Call&);
long handle_getcpu(Call&);
long handle_getppid(Call&);
long handle_keyctl(Call&);
long handle_quotactl(Call&);
long handle_modify_ldt(Call&);
long handle_syslog(Call&);
long handle_sysfs(Call&);

// namespaces.cc
long handle_unshare(Call&);
long handle_setns(Call&);
long handle_new_root(Call&);

// ioctl.cc
long handle_ioctl(Call&);

// seccomp.cc
long handle_seccomp(Call&);

// ptrace.cc
long handle_ptrace(Call&);

// wait_calls.cc
long handle_wait(Call&);

// kill.cc
long pid_of_pidfd(long fd);  // the process that a pidfd refers to, or -1
long handle_kill(Call&);

// executed_files.cc
long handle_overwrite(Call&);

// own_copies.cc
long handle_restrict_self(Call&);

// own_descriptors.cc
long handle_getdents(Call&);

// files.cc
long handle_open(Call&);
long handle_openat(Call&);
long handle_access(Call&);
long handle_stat(Call&);
long handle_first_path(Call&);
long handle_second_path(Call&);
long handle_followed_path(Call&);
long handle_fstat(Call&);
// shown_calls.cc
long handle_lseek(Call&);
long handle_pread(Call&);
// files.cc
long handle_vmsplice(Call&);
long handle_close(Call&);
long handle_close_range(Call&);  // close_range.cc
long handle_dup(Call&);
long handle_pidfd_getfd(Call&);
long handle_fcntl(Call&);
long handle_readlink(Call&);
long handle_readlinkat(Call&);
long handle_copy_between(Call&);
long handle_select(Call&);
long handle_name_to_handle_at(Call&);

// messages.cc
long handle_recvmsg(Call&);
long handle_recvmmsg(Call&);

// socket_options.cc
long handle_getsockopt(Call&);
long handle_setsockopt(Call&);

// misc.cc
long handle_prctl(Call&);
long handle_personality(Call&);
long handle_sched_setaffinity(Call&);
long handle_sched_getaffinity(Call&);

}  // namespace reweave::core
