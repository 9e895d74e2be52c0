// Functions of which the C library has several versions, or whose arguments must be passed on unchanged. In a program
// linked with ThreadSanitizer's runtime their names have no version, and the newest version must be found.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

extern char** environ;
static int failures;

static void expect(const char* what, int right) {
  if (right) return;
  failures++;
  printf("wrong: %s\n", what);
}

static void condition_with_a_clock(void) {
  pthread_condattr_t attributes;
  pthread_cond_t condition;
  clockid_t clock = -1;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  expect("pthread_condattr_getclock", pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_MONOTONIC);
  expect("pthread_cond_init", pthread_cond_init(&condition, &attributes) == 0);
  expect("pthread_cond_destroy", pthread_cond_destroy(&condition) == 0);
}

static void paths(void) {
  char* path = realpath("/usr/../usr", NULL);
  expect("realpath", path != NULL && strcmp(path, "/usr") == 0);
  free(path);
  glob_t found;
  expect("glob", glob("/us*", GLOB_ONLYDIR, NULL, &found) == 0 && found.gl_pathc >= 1);
  globfree(&found);
}

// The oldest version of regexec does not support REG_STARTEND.
static void patterns(void) {
  regex_t pattern;
  expect("regcomp", regcomp(&pattern, "b+$", REG_EXTENDED) == 0);
  regmatch_t match = {.rm_so = 1, .rm_eo = 3};
  expect("regexec", regexec(&pattern, "abbc", 1, &match, REG_STARTEND) == 0 && match.rm_so == 1 && match.rm_eo == 3);
  regfree(&pattern);
}

// The oldest version of posix_spawn runs a file that is no program with a shell.
static void spawning(void) {
  char name[] = "/tmp/library_versions.XXXXXX";
  int file = mkstemp(name), status = 0;
  expect("write", write(file, "exit 7\n", 7) == 7);
  fchmod(file, 0700);
  close(file);
  char* arguments[] = {name, NULL};
  pid_t child;
  expect("posix_spawn", posix_spawn(&child, name, NULL, NULL, arguments, environ) == ENOEXEC);
  char* shell[] = {"sh", "-c", "exit 7", NULL};
  expect("posix_spawnp", posix_spawnp(&child, "sh", NULL, NULL, shell, environ) == 0);
  expect("waitpid", waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  unlink(name);
}

static void memory_streams(void) {
  char room[8];
  FILE* stream = fmemopen(room, sizeof room, "w+");
  expect("fmemopen", stream != NULL && fseek(stream, 0, SEEK_END) == 0 && ftell(stream) == 0);
  fclose(stream);
}

static void numbers(void) {
  double whole;
  int exponent, quotient;
  expect("frexp", frexp(12.0, &exponent) == 0.75 && exponent == 4);
  expect("frexpl", frexpl(12.0L, &exponent) == 0.75L && exponent == 4);
  expect("modf", modf(2.5, &whole) == 0.5 && whole == 2.0);
  long double long_whole;
  expect("modfl", modfl(-2.5L, &long_whole) == -0.5L && long_whole == -2.0L);
  expect("remquo", remquo(7.0, 2.0, &quotient) == -1.0 && (quotient & 3) == 0);
  expect("lgamma", fabs(lgamma(0.5) - 0.5723649429247) < 1e-9);
}

static int list_of(char* to, size_t room, const char* format, ...) {
  va_list list;
  va_start(list, format);
  int result = vsnprintf(to, room, format, list);
  va_end(list);
  return result;
}

static void formats(void) {
  char text[256];
  int length = 0;
  snprintf(text, sizeof text, "%d %s %.1f %c %ld %s %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.2Lf %s%n", 1, "two", 3.0,
           '4', 5L, "six", 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.25L, "end", &length);
  expect("snprintf", strcmp(text, "1 two 3.0 4 5 six 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.25 end") == 0 &&
                         length == (int)strlen(text));
  expect("vsnprintf", list_of(text, 4, "%s-%Lf", "abcdef", 1.0L) == 15 && strcmp(text, "abc") == 0);
  expect("sprintf", sprintf(text, "%.*s|%5ls", 2, "xyz", L"wide") == 8 && strcmp(text, "xy| wide") == 0);
  char* made;
  expect("asprintf", asprintf(&made, "%s %d %a", "a", 2, 1.0) == 10 && strncmp(made, "a 2 ", 4) == 0);
  free(made);
  int a, b;
  char word[8], *own;
  double number;
  long double wide_number;
  expect("sscanf", sscanf("12 ab 0x1f 2.5 [xy] 1.5 tail", "%d %7s %i %lf [%7[a-z]] %Lf %ms", &a, word, &b, &number,
                          word + 3, &wide_number, &own) == 7 &&
                       a == 12 && b == 31 && number == 2.5 && wide_number == 1.5L && strcmp(word, "ab") == 0 &&
                       strcmp(word + 3, "xy") == 0 && strcmp(own, "tail") == 0);
  free(own);
}

static jmp_buf back;
static sigjmp_buf back_from_signal;

static void jumps(void) {
  volatile int rounds = 0;
  if (setjmp(back) < 3) longjmp(back, ++rounds);
  expect("setjmp", rounds == 3);
  if (sigsetjmp(back_from_signal, 1) == 0) siglongjmp(back_from_signal, 1);
  int status = 0;
  pid_t child = vfork();
  if (child == 0) _exit(3);
  expect("vfork", waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
}

static void files(void) {
  char name[] = "/tmp/library_versions.XXXXXX";
  close(mkstemp(name));
  unlink(name);
  umask(0);
  int file = open(name, O_CREAT | O_RDWR | O_EXCL, 0640);
  struct stat status;
  expect("open", file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0777) == 0640);
  unlink(name);
  close(file);
  expect("fopen", fopen("/nowhere/at/all", "r") == NULL && errno == ENOENT);
  cpu_set_t processors;
  expect("sched_getaffinity", sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) >= 1);
}

static void strings(void) {
  expect("wcslen", wcslen(L"four") == 4);
  expect("strcasestr", strcmp(strcasestr("One Two", "tWO"), "Two") == 0);
  expect("strtok", strcmp(strtok((char[]){"a,b"}, ","), "a") == 0);
  expect("strtol", strtol("  -12x", NULL, 10) == -12 && strtod("2.5", NULL) == 2.5 && atoi("7") == 7);
  time_t when = 86400;
  struct tm parts;
  expect("gmtime_r", gmtime_r(&when, &parts) == &parts && parts.tm_mday == 2);
}

int main(void) {
  condition_with_a_clock();
  paths();
  patterns();
  spawning();
  memory_streams();
  numbers();
  formats();
  jumps();
  files();
  strings();
  puts(failures == 0 ? "all right" : "not right");
  return failures != 0;
}
