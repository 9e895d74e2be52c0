/* Options of prctl that write to memory: the address of the thread's id, the size of the struct of PR_SET_MM_MAP, the
 * auxiliary vector, and the signal for the parent's death. */
#define _GNU_SOURCE
#include <linux/prctl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "check.h"

enum { kGetAuxv = 0x41555856 };

static void auxiliary_vector(void) {
  unsigned long vector[128] = {0}, first[2] = {0};
  long bytes = prctl(kGetAuxv, vector, sizeof vector, 0, 0);
  if (bytes < 0) {
    CHECK(errno == EINVAL);  // an older kernel
    return;
  }
  CHECK(prctl(kGetAuxv, first, sizeof first, 0, 0) == bytes && first[0] == vector[0] && first[1] == vector[1]);
  for (int i = 0; vector[i] != AT_NULL; i += 2)
    if (vector[i] != AT_HWCAP) CHECK(getauxval(vector[i]) == vector[i + 1]);  // the C library changes AT_HWCAP
}

static int death_signal(void) {
  int number = -1;
  CHECK(prctl(PR_GET_PDEATHSIG, &number) == 0);
  return number;
}

/* Each thread has its own death signal, which a child does not inherit. */
static void check_death_signal(void) {
  CHECK(death_signal() == 0);
  CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && death_signal() == SIGTERM);
  const pid_t child = fork();
  if (child == 0) _exit(death_signal());
  expect_success(child);
  CHECK(prctl(PR_SET_PDEATHSIG, 0) == 0 && death_signal() == 0);
}

static int executed_again(void) {
  CHECK(death_signal() == SIGUSR1);
  puts("kept by exec");
  return 0;
}

int main(int count, char** arguments) {
  if (count > 1) return executed_again();
  static int word;
  int* address = NULL;
  unsigned size = 0;
  CHECK(syscall(SYS_set_tid_address, &word) == gettid());
  CHECK(prctl(PR_GET_TID_ADDRESS, &address) == 0 || errno == EINVAL);
  CHECK(address == &word || address == NULL);
  CHECK(prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) == 0 && size == sizeof(struct prctl_mm_map));
  CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0);
  auxiliary_vector();
  check_death_signal();
  printf("%u bytes\n", size);
  fflush(stdout);
  CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0);
  execl("/proc/self/exe", arguments[0], "again", NULL);
  return 1;
}
