/* A block is freed while another thread uses it only through the C library; the argument says how. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static char *block, other[256];
static int ends[2], pair[2];

static void use_mutex(void) { pthread_mutex_lock((pthread_mutex_t*)block); }
static void use_trylock(void) { pthread_mutex_trylock((pthread_mutex_t*)block); }
static void use_unlock(void) { pthread_mutex_unlock((pthread_mutex_t*)block); }
static void use_destroy(void) { pthread_mutex_destroy((pthread_mutex_t*)block); }
static void use_condition(void) { pthread_cond_broadcast((pthread_cond_t*)block); }
static void use_condition_destroy(void) { pthread_cond_destroy((pthread_cond_t*)block); }
static void use_rdlock(void) { pthread_rwlock_rdlock((pthread_rwlock_t*)block); }
static void use_trywrlock(void) { pthread_rwlock_trywrlock((pthread_rwlock_t*)block); }
static void use_spin(void) { pthread_spin_lock((pthread_spinlock_t*)block); }
static void use_post(void) { sem_post((sem_t*)block); }
static void use_trywait(void) { sem_trywait((sem_t*)block); }
static void use_barrier(void) { pthread_barrier_wait((pthread_barrier_t*)block); }
static void nothing(void) {}
static void use_once(void) { pthread_once((pthread_once_t*)block, nothing); }
static void use_write(void) { write(ends[1], block, 64); }
static void use_read(void) {
  write(ends[1], "0123456789", 10);
  read(ends[0], block, 64);
}
static void use_writev(void) { writev(ends[1], (struct iovec[]){{block, 64}}, 1); }
static void use_vector(void) { writev(ends[1], (struct iovec*)block, 1); }
static void use_send(void) { send(pair[0], block, 8, 0); }
static void use_recv(void) {
  send(pair[0], "0123456789", 10, 0);
  recv(pair[1], block, 64, 0);
}
static void use_message(void) {
  struct iovec part = {block, 8};
  sendmsg(pair[0], &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0);
}
static void use_poll(void) { poll((struct pollfd*)block, 1, 0); }
static void use_stat(void) { stat("/", (struct stat*)block); }
static void use_clock(void) { clock_gettime(CLOCK_MONOTONIC, (struct timespec*)block); }
static void use_gmtime(void) { gmtime_r(&(time_t){0}, (struct tm*)block); }
static void use_snprintf(void) { snprintf(other, sizeof other, "%d %s", 1, block); }
static void use_snprintf_to(void) { snprintf(block, 100, "%d", 1); }
static void use_sscanf(void) { sscanf("12", "%d", (int*)block); }
static void use_fwrite(void) { fwrite(block, 1, 10, stderr); }
static void use_puts(void) { fputs(block, stderr); }
static void use_wcslen(void) { other[0] = (char)wcslen((wchar_t*)block); }
static void use_strtol(void) { other[0] = (char)strtol(block, NULL, 10); }
static void use_strdup(void) { free(strdup(block)); }
static int by_byte(const void* a, const void* b) { return *(const char*)a - *(const char*)b; }
static void use_qsort(void) { qsort(block, 0, 1, by_byte), qsort(block, 4, 1, by_byte); }
static void use_memcpy(void) {
  static volatile size_t bytes = 100;  // a copy inlined by the compiler would not reach the shim
  memcpy(other, block, bytes);
}

static const struct {
  const char* name;
  void (*use)(void);
} kUses[] = {
    {"mutex", use_mutex},         {"trylock", use_trylock},
    {"unlock", use_unlock},       {"destroy", use_destroy},
    {"condition", use_condition}, {"condition_destroy", use_condition_destroy},
    {"rdlock", use_rdlock},       {"trywrlock", use_trywrlock},
    {"spin", use_spin},           {"post", use_post},
    {"trywait", use_trywait},     {"barrier", use_barrier},
    {"once", use_once},           {"write", use_write},
    {"read", use_read},           {"writev", use_writev},
    {"vector", use_vector},       {"send", use_send},
    {"recv", use_recv},           {"message", use_message},
    {"poll", use_poll},           {"stat", use_stat},
    {"clock", use_clock},         {"gmtime", use_gmtime},
    {"snprintf", use_snprintf},   {"snprintf_to", use_snprintf_to},
    {"sscanf", use_sscanf},       {"fwrite", use_fwrite},
    {"puts", use_puts},           {"wcslen", use_wcslen},
    {"strtol", use_strtol},       {"strdup", use_strdup},
    {"qsort", use_qsort},         {"memcpy", use_memcpy},
};

static void* user(void* use) {
  ((void (*)(void))use)();
  return NULL;
}

static void* releaser(void* unused) {
  free(block);
  return unused;
}

int main(int count, char** arguments) {
  if (count < 2) {
    for (size_t i = 0; i < sizeof kUses / sizeof kUses[0]; i++) puts(kUses[i].name);
    return 0;
  }
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 2;
  block = calloc(1, 200);
  if (strcmp(arguments[1], "barrier") == 0) pthread_barrier_init((pthread_barrier_t*)block, NULL, 1);
  if (strcmp(arguments[1], "spin") == 0) pthread_spin_init((pthread_spinlock_t*)block, PTHREAD_PROCESS_PRIVATE);
  void (*use)(void) = NULL;
  for (size_t i = 0; i < sizeof kUses / sizeof kUses[0]; i++)
    if (strcmp(kUses[i].name, arguments[1]) == 0) use = kUses[i].use;
  if (use == NULL) return 2;
  pthread_t a, b;
  pthread_create(&a, NULL, user, (void*)use);
  pthread_create(&b, NULL, releaser, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
