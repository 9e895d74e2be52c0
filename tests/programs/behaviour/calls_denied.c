/* Calls that a container or an older kernel would refuse: they fail, and the program continues. */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sys/ptrace.h>
#include "check.h"

#define DENIED(call)                                                                                                   \
  CHECK((call) == -1 && (errno == EPERM || errno == EACCES || errno == ENOSYS || errno == EINVAL || errno == ENOENT || \
                         errno == EBADF || errno == ENODEV || errno == ESRCH || errno == ENOTBLK || errno == ENOMSG || \
                         errno == EOPNOTSUPP))

/* Joining the namespaces that the process is already in is not refused. */
static void own_namespaces(void) {
  if (geteuid() != 0) return;
  const char* kinds[] = {"pid", "net", "uts"};
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/ns/%s", kinds[i]);
    int space = open(name, O_RDONLY);
    CHECK(syscall(SYS_setns, space, 0) == 0 || errno == EPERM);
    FAILS(syscall(SYS_setns, space, CLONE_NEWNS), EINVAL);
    CHECK(close(space) == 0);
  }
}

int main(void) {
  own_namespaces();
  aio_context_t context = 0;
  struct perf_event_attr attributes = {.size = sizeof attributes};
  if (getenv("REWEAVE_NATIVE_ONLY") == NULL) {
    long ignored = syscall(SYS_io_setup, 1, &context);
    ignored += syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    ignored += syscall(SYS_userfaultfd, 0) + syscall(SYS_memfd_secret, 0) + syscall(SYS_io_uring_setup, 1, NULL);
    (void)ignored;
  }
  DENIED(syscall(SYS_bpf, 9999, NULL, 0));
  DENIED(syscall(SYS_init_module, NULL, 0, ""));
  DENIED(syscall(SYS_finit_module, -1, "", 0));
  DENIED(syscall(SYS_delete_module, "no such module", 0));
  DENIED(syscall(SYS_kexec_load, 0, 1000, NULL, 0));
  DENIED(syscall(SYS_quotactl, 0x80000700, "/no/such/device", 0, NULL));
  DENIED(syscall(SYS_keyctl, 9999, 0, 0, 0, 0));
  DENIED(ptrace(PTRACE_ATTACH, 1 << 22, NULL, NULL));
  DENIED(syscall(SYS_ioperm, 1 << 20, 1, 1));
  DENIED(syscall(SYS_move_mount, -1, "", -1, "", 0));
  DENIED(syscall(SYS_fsconfig, -1, 0, NULL, NULL, 0));
  DENIED(syscall(SYS_fsmount, -1, 0, 0));
  DENIED(syscall(SYS_setns, -1, 0));
  DENIED(syscall(SYS_process_madvise, -1, NULL, 0, 0, 0));
  DENIED(syscall(SYS_uselib, "x"));
  DENIED(syscall(9999));
  DENIED(syscall(-5));
  puts("went on");
  return 0;
}
