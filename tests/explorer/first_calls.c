/* FIRST_CALLS NAME makes a call only after a lost update, so a failing run is the first one that makes it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static volatile int count;

static void* adder(void* arg) {
  count = count + 1;
  return arg;
}

static void write_to(const char* path, const char* how) {
  FILE* file = fopen(path, how);
  if (file == NULL || fputs("what happened\n", file) < 0 || fclose(file) != 0) _exit(7);
}

static void read_from(const char* path) {
  char line[4096];
  FILE* file = fopen(path, "r");
  if (file == NULL || fgets(line, sizeof line, file) == NULL) _exit(8);
  fclose(file);
}
static void do_isatty(void) { isatty(2); }
static void do_uname(void) {
  struct utsname u;
  uname(&u);
}
static void do_getcwd(void) {
  char b[4096];
  getcwd(b, sizeof b);
}
static void do_readlink_exe(void) {
  char b[4096];
  readlink("/proc/self/exe", b, sizeof b);
}
static void do_hostname(void) {
  char b[99];
  gethostname(b, 99);
}
static void do_affinity(void) {
  cpu_set_t s;
  sched_getaffinity(0, sizeof s, &s);
}
static void do_rusage(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
}
static void do_times(void) {
  struct tms t;
  times(&t);
}
static void do_rlimit(void) {
  struct rlimit r;
  getrlimit(RLIMIT_NOFILE, &r);
}
static void do_sysinfo(void) {
  struct sysinfo s;
  sysinfo(&s);
}
static void do_clock_getres(void) {
  struct timespec t;
  clock_getres(CLOCK_MONOTONIC, &t);
}
static void do_getuid(void) { (getuid(), geteuid(), getgid(), getegid()); }
static void do_prctl_name(void) {
  char b[16];
  prctl(PR_GET_NAME, b);
}
static void do_prctl_set(void) { prctl(PR_SET_NAME, "x"); }
static void do_nproc(void) { sysconf(_SC_NPROCESSORS_ONLN); }
static void do_nprocconf(void) { sysconf(_SC_NPROCESSORS_CONF); }
static void do_physpages(void) { sysconf(_SC_PHYS_PAGES); }
static void do_access(void) { access("/etc/passwd", R_OK); }
static void do_stat(void) {
  struct stat s;
  stat("/etc/passwd", &s);
}
static void do_write_file(void) { write_to("report.log", "w"); }
static void do_append_file(void) { write_to("report.log", "a"); }
static void do_sigaction(void) { signal(SIGUSR1, SIG_IGN); }
static void do_sigmask(void) {
  sigset_t s;
  sigemptyset(&s);
  sigprocmask(SIG_BLOCK, &s, 0);
}
static void do_raise(void) { (signal(SIGUSR1, SIG_IGN), raise(SIGUSR1)); }
static void do_alarm(void) { alarm(0); }
static void do_fsync(void) { fsync(2); }
static void do_fstat2(void) {
  struct stat s;
  fstat(2, &s);
}
static void do_pipe(void) {
  int p[2];
  pipe(p);
}
static void do_environ(void) { setenv("A", "B", 1); }
static void do_maps(void) { read_from("/proc/self/maps"); }
static void do_cmdline(void) { read_from("/proc/self/cmdline"); }
static void do_comm(void) { read_from("/proc/self/comm"); }
static void do_meminfo(void) { read_from("/proc/meminfo"); }
static void do_cpuinfo(void) { read_from("/proc/cpuinfo"); }
static void do_statm(void) { read_from("/proc/self/statm"); }
static void do_fork(void) {
  if (!fork()) _exit(0);
  wait(0);
}
static void do_devnull(void) { write_to("/dev/null", "w"); }
static void do_urandom(void) { read_from("/proc/self/status"); }
static void do_strerror(void) { strerror(2); }
static void do_localtime(void) {
  time_t t = time(0);
  localtime(&t);
}
static void do_nanosleep(void) { usleep(1000); }
static void do_yield(void) { sched_yield(); }
static void do_priority(void) { getpriority(PRIO_PROCESS, 0); }
static void do_sched(void) { sched_getscheduler(0); }
static void do_mmap(void) { mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void do_mprotect(void) {
  void* p = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(p, 4096, 1);
  madvise(p, 4096, MADV_DONTNEED);
  munmap(p, 4096);
}
static void do_mkstemp(void) {
  char name[] = "XXXXXX";
  if (mkstemp(name) < 0) _exit(9);
}
static void do_umask(void) { umask(022); }
static void do_eventfd(void) { eventfd(0, 0); }
static void do_getcpu(void) { sched_getcpu(); }
static void do_rseq(void) { syscall(SYS_gettid); }
static void do_core_limit(void) {
  struct rlimit r = {0, 0};
  setrlimit(RLIMIT_CORE, &r);
}
static void do_dumpable(void) { prctl(PR_SET_DUMPABLE, 0); }
static void do_sigaltstack(void) {
  stack_t s = {malloc(65536), 0, 65536};
  sigaltstack(&s, 0);
}
static void do_ttyname(void) { ttyname(2); }
static void do_winsize(void) {
  struct winsize w;
  ioctl(2, TIOCGWINSZ, &w);
}
static void do_select(void) {
  struct timeval t = {0, 1000};
  select(0, 0, 0, 0, &t);
}
static void do_poll(void) { poll(0, 0, 1); }
static void do_tmpfile(void) {
  if (tmpfile() == NULL) _exit(9);
}
static void do_backtrace(void) {
  void* frames[20];
  backtrace_symbols_fd(frames, backtrace(frames, 20), 2);
}
static void do_dlopen(void) {
  if (dlopen("libm.so.6", RTLD_NOW) == NULL) _exit(9);
}
static void do_random(void) {
  FILE* file = fopen("/dev/urandom", "r");
  if (file == NULL || getc(file) == EOF) _exit(8);
}

static const struct {
  const char* name;
  void (*call)(void);
} kCalls[] = {{"isatty", do_isatty},
              {"uname", do_uname},
              {"getcwd", do_getcwd},
              {"readlink_exe", do_readlink_exe},
              {"hostname", do_hostname},
              {"affinity", do_affinity},
              {"rusage", do_rusage},
              {"times", do_times},
              {"rlimit", do_rlimit},
              {"sysinfo", do_sysinfo},
              {"clock_getres", do_clock_getres},
              {"getuid", do_getuid},
              {"prctl_name", do_prctl_name},
              {"prctl_set", do_prctl_set},
              {"nproc", do_nproc},
              {"nprocconf", do_nprocconf},
              {"physpages", do_physpages},
              {"access", do_access},
              {"stat", do_stat},
              {"write_file", do_write_file},
              {"append_file", do_append_file},
              {"sigaction", do_sigaction},
              {"sigmask", do_sigmask},
              {"raise", do_raise},
              {"alarm", do_alarm},
              {"fsync", do_fsync},
              {"fstat2", do_fstat2},
              {"pipe", do_pipe},
              {"environ", do_environ},
              {"maps", do_maps},
              {"cmdline", do_cmdline},
              {"comm", do_comm},
              {"meminfo", do_meminfo},
              {"cpuinfo", do_cpuinfo},
              {"statm", do_statm},
              {"fork", do_fork},
              {"devnull", do_devnull},
              {"urandom", do_urandom},
              {"strerror", do_strerror},
              {"localtime", do_localtime},
              {"nanosleep", do_nanosleep},
              {"yield", do_yield},
              {"priority", do_priority},
              {"sched", do_sched},
              {"mmap", do_mmap},
              {"mprotect", do_mprotect},
              {"mkstemp", do_mkstemp},
              {"umask", do_umask},
              {"eventfd", do_eventfd},
              {"getcpu", do_getcpu},
              {"rseq", do_rseq},
              {"core_limit", do_core_limit},
              {"dumpable", do_dumpable},
              {"sigaltstack", do_sigaltstack},
              {"ttyname", do_ttyname},
              {"winsize", do_winsize},
              {"select", do_select},
              {"poll", do_poll},
              {"random", do_random},
              {"tmpfile", do_tmpfile},
              {"backtrace", do_backtrace},
              {"dlopen", do_dlopen}};

int main(int argc, char** argv) {
  if (argc < 2) {
    for (unsigned i = 0; i < sizeof kCalls / sizeof kCalls[0]; i++) puts(kCalls[i].name);
    return 0;
  }
  pthread_t one, other;
  pthread_create(&one, NULL, adder, NULL);
  pthread_create(&other, NULL, adder, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  if (count == 2) return 0;
  for (unsigned i = 0; i < sizeof kCalls / sizeof kCalls[0]; i++)
    if (strcmp(kCalls[i].name, argv[1]) == 0) kCalls[i].call();
  return 3;
}
