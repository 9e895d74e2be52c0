/* System V shared memory, semaphores and messages, within a process and between processes. */
#define _GNU_SOURCE
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include "check.h"

union semun {
  int val;
  struct semid_ds* buf;
  unsigned short* array;
};

static void shared_memory(void) {
  struct shmid_ds status;
  int id = shmget(IPC_PRIVATE, 10000, 0600 | IPC_CREAT);
  CHECK(id >= 0);
  int* a = shmat(id, NULL, 0);
  int* b = shmat(id, NULL, SHM_RDONLY);
  CHECK(a != (void*)-1 && b != (void*)-1 && a != b && a[0] == 0);
  a[7] = 42;
  CHECK(b[7] == 42);
  CHECK(shmctl(id, IPC_STAT, &status) == 0 && status.shm_segsz == 10000 && status.shm_nattch == 2);
  FAILS(mprotect(b, 4096, PROT_READ | PROT_WRITE), EACCES); /* so it stays read-only */
  pid_t writer = fork();
  if (writer == 0) {
    *(volatile int*)b = 1;
    _exit(0);
  }
  CHECK(WTERMSIG(status_of(writer)) == SIGSEGV);
  CHECK(status.shm_cpid == getpid());
  pid_t child = fork();
  if (child == 0) {
    CHECK(a[7] == 42);
    a[8] = 43;
    int* c = shmat(id, NULL, 0);
    CHECK(c[8] == 43);
    c[9] = 44;
    CHECK(shmdt(c) == 0 && shmdt(a) == 0);
    FAILS(shmdt(a), EINVAL);
    _exit(0);
  }
  expect_success(child);
  CHECK(b[8] == 43 && b[9] == 44);
  CHECK(shmdt(b) == 0 && shmctl(id, IPC_RMID, NULL) == 0);
  a[10] = 45;
  CHECK(a[10] == 45 && shmdt(a) == 0);
  FAILS((long)shmat(id, NULL, 0), EINVAL);
}

static void found_again(void) {
  key_t key = (key_t)(0x52570000 | (getpid() & 0xffff));
  int id = shmget(key, 4096, 0600 | IPC_CREAT | IPC_EXCL);
  CHECK(id >= 0);
  FAILS(shmget(key, 4096, 0600 | IPC_CREAT | IPC_EXCL), EEXIST);
  CHECK(shmget(key, 0, 0) == id);
  strcpy(shmat(id, NULL, 0), "left there");
  pid_t child = fork();
  if (child == 0) {
    char* at = (char*)0x10000000;
    CHECK(shmat(shmget(key, 0, 0), at, 0) == at && strcmp(at, "left there") == 0);
    FAILS((long)shmat(id, at, 0), EINVAL);
    CHECK(shmat(id, at + 100, SHM_RND | SHM_REMAP) == at);
    _exit(0);
  }
  expect_success(child);
  CHECK(shmctl(id, IPC_RMID, NULL) == 0);
}

static void semaphores(void) {
  unsigned short values[3] = {1, 2, 3}, seen[3];
  struct semid_ds status;
  int id = semget(IPC_PRIVATE, 3, 0600);
  CHECK(id >= 0 && semctl(id, 0, SETALL, (union semun){.array = values}) == 0);
  CHECK(semctl(id, 0, GETALL, (union semun){.array = seen}) == 0 && memcmp(values, seen, sizeof seen) == 0);
  CHECK(semctl(id, 1, SETVAL, (union semun){.val = 0}) == 0 && semctl(id, 1, GETVAL) == 0);
  CHECK(semctl(id, 0, IPC_STAT, (union semun){.buf = &status}) == 0 && status.sem_nsems == 3);
  struct sembuf down = {1, -1, 0}, up = {1, 1, 0}, never = {1, -1, IPC_NOWAIT};
  FAILS(semop(id, &never, 1), EAGAIN);
  struct timespec soon = {0, 10000000};
  FAILS(semtimedop(id, &down, 1, &soon), EAGAIN);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; i++) CHECK(semop(id, &down, 1) == 0);
    _exit(0);
  }
  for (int i = 0; i < 3; i++) CHECK(semop(id, &up, 1) == 0);
  expect_success(child);
  CHECK(semctl(id, 1, GETPID) == child && semctl(id, 0, IPC_RMID) == 0);
}

static void messages(void) {
  struct {
    long type;
    char text[100];
  } message = {3, "third"}, seen;
  struct msqid_ds status;
  int id = msgget(IPC_PRIVATE, 0600);
  CHECK(id >= 0 && msgsnd(id, &message, 6, 0) == 0);
  message.type = 1, strcpy(message.text, "first");
  CHECK(msgsnd(id, &message, 6, 0) == 0);
  CHECK(msgctl(id, IPC_STAT, &status) == 0 && status.msg_qnum == 2);
  CHECK(msgrcv(id, &seen, sizeof seen.text, 1, 0) == 6 && seen.type == 1 && strcmp(seen.text, "first") == 0);
  FAILS(msgrcv(id, &seen, 2, 0, 0), E2BIG);
  CHECK(msgrcv(id, &seen, 2, 0, MSG_NOERROR) == 2 && seen.type == 3);
  FAILS(msgrcv(id, &seen, 2, 0, IPC_NOWAIT), ENOMSG);
  pid_t child = fork();
  if (child == 0) {
    CHECK(msgrcv(id, &seen, sizeof seen.text, 0, 0) == 6 && seen.type == 1);
    _exit(0);
  }
  usleep(20000);
  CHECK(msgsnd(id, &message, 6, 0) == 0);
  expect_success(child);
  CHECK(msgctl(id, IPC_RMID, NULL) == 0);
}

/* shmdt after the first page was unmapped: the rest is detached, and the other attachment stays. */
static void detached_partly(void) {
  enum { kPage = 4096, kPages = 3 };
  struct shmid_ds status;
  unsigned char in_core;
  const int id = shmget(IPC_PRIVATE, kPages * kPage, 0600);
  char *memory = shmat(id, NULL, 0), *other = shmat(id, NULL, SHM_RDONLY);
  CHECK(memory != (void*)-1 && other != (void*)-1);
  memory[2 * kPage] = 7;
  CHECK(shmctl(id, IPC_RMID, NULL) == 0 && munmap(memory, kPage) == 0);
  CHECK(mprotect(memory + 2 * kPage, kPage, PROT_READ) == 0);
  CHECK(shmdt(memory) == 0);
  FAILS(mincore(memory + kPage, kPage, &in_core), ENOMEM);
  FAILS(mincore(memory + 2 * kPage, kPage, &in_core), ENOMEM);
  FAILS(shmdt(memory), EINVAL);
  CHECK(other[2 * kPage] == 7 && shmctl(id, IPC_STAT, &status) == 0 && status.shm_nattch == 1);
  CHECK(shmdt(other) == 0);
  FAILS(shmdt(mmap(NULL, kPage, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), EINVAL);
}

int main(void) {
  shared_memory();
  found_again();
  detached_partly();
  semaphores();
  messages();
  puts("System V");
  return 0;
}
