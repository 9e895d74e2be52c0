/* No signal reaches a joined thread. The kernel clears the word of set_tid_address only if another thread still uses
 * that memory. */
#define _GNU_SOURCE
#include <pthread.h>
#include "check.h"

static pid_t id;

static void* note_id(void* unused) {
  id = (pid_t)syscall(SYS_gettid);
  return unused;
}

int main(void) {
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, note_id, NULL) == 0 && pthread_join(thread, NULL) == 0);
    errno = 0;
    while (syscall(SYS_tgkill, getpid(), id, 0) == 0) continue; /* the kernel may take a moment */
    CHECK(errno == ESRCH);
  }
  int* word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *word = 1;
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_set_tid_address, word);
    syscall(SYS_exit, 0);
  }
  expect_success(child);
  CHECK(*word == 1);
  puts("gone");
  return 0;
}
