/* Protection keys: system calls have the rights of the calling thread, new threads inherit them, and handlers start
 * without rights. Prints a message and does nothing where the processor has no keys. */
#define _GNU_SOURCE
#include <pthread.h>

#include "faults.h"

enum { kPage = 4096, kRounds = 10 };

static char* page;
static int key;
static volatile int rights_of_handler;

static int readable(void) {
  int zero = open("/dev/zero", O_RDONLY);
  int done = read(zero, page, 100) == 100;
  CHECK(done || errno == EFAULT);
  CHECK(close(zero) == 0);
  return done;
}

/* Calls often, because hot calls reach the kernel in another way. */
static int calls_may_write(void) {
  int count = 0;
  for (int i = 0; i < kRounds; i++) count += readable();
  CHECK(count == 0 || count == kRounds);
  return count == kRounds;
}

static void* in_thread(void* unused) {
  printf("in a thread %d %d\n", pkey_get(key), calls_may_write());
  CHECK(pkey_set(key, 0) == 0);
  printf("then %d\n", calls_may_write());
  return unused;
}

static void on_usr1(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  rights_of_handler = pkey_get(key);
}

static volatile int fault_code, fault_key;

static void on_denied(int number, siginfo_t* info, void* context) {
  (void)context;
  fault_code = info->si_code;
  fault_key = (int)info->si_pkey;
  siglongjmp(before_fault, number);
}

int main(void) {
  page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(page, 'k', kPage);
  key = pkey_alloc(0, 0);
  if (key < 0) {
    puts("no protection keys");
    return 0;
  }
  CHECK(pkey_mprotect(page, kPage, PROT_READ | PROT_WRITE, key) == 0 && page[0] == 'k');
  CHECK(pkey_get(key) == 0 && calls_may_write() && page[0] == 0);
  CHECK(pkey_set(key, PKEY_DISABLE_WRITE) == 0 && !calls_may_write() && page[1] == 0);
  CHECK(pkey_get(key) == PKEY_DISABLE_WRITE);

  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(!calls_may_write());

  on_signal(SIGUSR1, on_usr1, 0);
  CHECK(raise(SIGUSR1) == 0);
  printf("in a handler %d, behind it %d\n", rights_of_handler, pkey_get(key));

  pid_t child = fork();
  if (child == 0) {
    CHECK(!calls_may_write() && pkey_set(key, 0) == 0 && calls_may_write());
    _exit(0);
  }
  expect_success(child);

  on_signal(SIGSEGV, on_denied, 0);
  CHECK(faults_when_written(page) == SIGSEGV && fault_code == SEGV_PKUERR && fault_key == key);
  CHECK(pkey_set(key, PKEY_DISABLE_ACCESS) == 0 && faults(page) == SIGSEGV);
  CHECK(pkey_set(key, 0) == 0 && faults_when_written(page) == 0 && calls_may_write());

  int denied = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  CHECK(denied > 0 && denied != key && pkey_get(denied) == PKEY_DISABLE_ACCESS && pkey_get(key) == 0);
  CHECK(pkey_free(denied) == 0 && pkey_free(key) == 0);
  puts("done");
  return 0;
}
