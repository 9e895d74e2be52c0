// Threads read files. The schedule decides the order, sizes and offsets of the pieces, but each thread knows which
// bytes to expect. It checks what it gets, and that nothing after the end of its buffer has changed.
// Correct under every schedule.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { kFiles = 4, kThreads = 3, kRounds = 4, kGuard = 64 };
static const long sizes[kFiles] = {10, 5000, 70000, 1};
static char path[kFiles][32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned drawn = 12345;  // a random state, advanced in the order in which threads draw
static int shared[kFiles];      // open files that all threads read from, each read with the lock held

static unsigned draw(unsigned below) {
  pthread_mutex_lock(&lock);
  drawn = drawn * 1664525 + 1013904223;
  const unsigned value = (drawn >> 8) % below;
  pthread_mutex_unlock(&lock);
  return value;
}

static unsigned char content(int file, long at) { return (unsigned char)(file * 61 + at * 7 + at / 251); }

struct Buffer {
  unsigned char* bytes;
  long size;
};

static struct Buffer make(long size) {
  struct Buffer buffer = {malloc((size_t)(size + kGuard)), size};
  memset(buffer.bytes, 0xee, (size_t)(size + kGuard));
  return buffer;
}

static void check(struct Buffer buffer, int file, long at, long got, long expected) {
  assert(got == expected);
  for (long i = 0; i < got; i++) assert(buffer.bytes[i] == content(file, at + i));
  for (long i = got; i < buffer.size + kGuard; i++) assert(buffer.bytes[i] == 0xee);
  free(buffer.bytes);
}

static long expected_at(int file, long at, long asked) {
  const long left = at < sizes[file] ? sizes[file] - at : 0;
  return left < asked ? left : asked;
}

static void own_reads(int file) {
  const int fd = open(path[file], O_RDONLY);
  assert(fd >= 0);
  long at = 0;
  for (int i = 0; i < 3; i++) {
    const long asked = 1 + (long)draw(i == 0 ? 3 : 9000);
    struct Buffer buffer = make(asked);
    const long expected = expected_at(file, at, asked);
    check(buffer, file, at, read(fd, buffer.bytes, (size_t)asked), expected);
    at += expected;
  }
  at = (long)draw((unsigned)sizes[file] + 1);
  assert(lseek(fd, at, SEEK_SET) == at);
  struct Buffer buffer = make(300);
  struct iovec vector[3] = {{buffer.bytes, 1}, {buffer.bytes + 1, 0}, {buffer.bytes + 1, 299}};
  check(buffer, file, at, readv(fd, vector, 3), expected_at(file, at, 300));
  struct stat status;
  assert(fstat(fd, &status) == 0 && status.st_size == sizes[file]);
  assert(lseek(fd, 0, SEEK_END) == sizes[file]);
  close(fd);
}

static void placed_reads(int file) {
  const long at = (long)draw((unsigned)sizes[file] + 20), asked = (long)draw(4000);
  struct Buffer buffer = make(asked);
  check(buffer, file, at, pread(shared[file], buffer.bytes, (size_t)asked, at), expected_at(file, at, asked));
  struct Buffer other = make(asked);
  struct iovec vector[2] = {{other.bytes, (size_t)(asked / 2)}, {other.bytes + asked / 2, (size_t)(asked - asked / 2)}};
  check(other, file, at, preadv(shared[file], vector, 2, at), expected_at(file, at, asked));
}

static void names(int file) {
  struct stat status;
  assert(stat(path[file], &status) == 0 && status.st_size == sizes[file]);
  assert(access(path[file], R_OK) == 0);
  char link[32], target[64 + kGuard];
  snprintf(link, sizeof link, "link.%d", file);
  memset(target, 0x11, sizeof target);
  const long length = readlink(link, target, 64);
  assert(length == (long)strlen(path[file]) && memcmp(target, path[file], (size_t)length) == 0);
  assert(target[length] == 0x11);
  assert(open("none", O_RDONLY) == -1 && errno == ENOENT);
}

static void attributes(int which) {
  static const int kinds[] = {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NPROC};
  struct rlimit limit, again;
  assert(getrlimit(kinds[which], &limit) == 0);
  assert(getrlimit(kinds[which], &again) == 0 && memcmp(&limit, &again, sizeof limit) == 0);
  struct utsname name;
  assert(uname(&name) == 0 && strcmp(name.sysname, "Linux") == 0);
  unsigned char random[48];
  const long wanted = 1 + (long)draw(40);
  memset(random, 0, sizeof random);
  assert(getrandom(random, (size_t)wanted, 0) == wanted);
  for (long i = wanted; i < (long)sizeof random; i++) assert(random[i] == 0);
  const int device = open("/dev/urandom", O_RDONLY);
  memset(random, 0, sizeof random);
  assert(read(device, random, (size_t)wanted) == wanted);
  for (long i = wanted; i < (long)sizeof random; i++) assert(random[i] == 0);
  close(device);
}

static void folder(void) {
  DIR* listed = opendir("folder");
  assert(listed != NULL);
  int entries = 0;
  for (struct dirent* entry = readdir(listed); entry != NULL; entry = readdir(listed)) entries++;
  assert(entries == 2 + kFiles);
  closedir(listed);
}

static void own_file(int thread, int round) {
  char name[32], text[64], back[64 + 1];
  snprintf(name, sizeof name, "own.%d.%d", thread, round);
  const int length = snprintf(text, sizeof text, "written by %d in round %d, %u\n", thread, round, draw(100000));
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert(fd >= 0 && write(fd, text, (size_t)length) == length);
  assert(pread(fd, back, 64, 0) == length && memcmp(text, back, (size_t)length) == 0);
  assert(pwrite(fd, "W", 1, 0) == 1 && lseek(fd, 0, SEEK_CUR) == length);
  close(fd);
  fd = open(name, O_RDWR);
  assert(read(fd, back, 64) == length && back[0] == 'W' && memcmp(text + 1, back + 1, (size_t)length - 1) == 0);
  assert(ftruncate(fd, 5) == 0 && lseek(fd, 0, SEEK_END) == 5);
  close(fd);
}

static void* worker(void* argument) {
  const int thread = (int)(long)argument;
  for (int round = 0; round < kRounds; round++) {
    const int file = (int)draw(kFiles);
    own_reads(file);
    placed_reads((int)draw(kFiles));
    names((int)draw(kFiles));
    attributes((int)draw(4));
    own_file(thread, round);
    if (round == 0) folder();
  }
  return NULL;
}

static void write_file(const char* name, int file) {
  const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  unsigned char* bytes = malloc((size_t)sizes[file]);
  for (long i = 0; i < sizes[file]; i++) bytes[i] = content(file, i);
  assert(write(fd, bytes, (size_t)sizes[file]) == sizes[file]);
  free(bytes);
  close(fd);
}

static char place[] = "/tmp/answers-XXXXXX";

// Runs before main, where explored runs begin.
__attribute__((constructor)) static void prepare(void) {
  assert(mkdtemp(place) != NULL && chdir(place) == 0 && mkdir("folder", 0700) == 0);
  for (int i = 0; i < kFiles; i++) {
    char name[32];
    snprintf(path[i], sizeof path[i], "file.%d", i);
    write_file(path[i], i);
    snprintf(name, sizeof name, "folder/%d", i);
    write_file(name, i);
    snprintf(name, sizeof name, "link.%d", i);
    assert(symlink(path[i], name) == 0);
  }
}

static void clean(void) {
  for (int i = 0; i < kFiles; i++) {
    char name[32];
    snprintf(name, sizeof name, "folder/%d", i);
    unlink(name);
    snprintf(name, sizeof name, "link.%d", i);
    unlink(name);
    unlink(path[i]);
  }
  for (int thread = 0; thread < kThreads; thread++)
    for (int round = 0; round < kRounds; round++) {
      char name[32];
      snprintf(name, sizeof name, "own.%d.%d", thread, round);
      unlink(name);
    }
  rmdir("folder");
  rmdir(place);
}

int main(void) {
  for (int i = 0; i < kFiles; i++) {
    shared[i] = open(path[i], O_RDONLY);
    unsigned char* all = malloc((size_t)sizes[i]);  // so that the recording has the whole file
    assert(pread(shared[i], all, (size_t)sizes[i], 0) == sizes[i]);
    free(all);
    struct stat status;
    assert(stat(path[i], &status) == 0 && access(path[i], R_OK) == 0);
    char link[32], target[64];
    snprintf(link, sizeof link, "link.%d", i);
    assert(readlink(link, target, sizeof target) > 0);
  }
  for (int i = 0; i < 4; i++) attributes(i);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, worker, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  clean();
  puts("ok");
  return 0;
}
