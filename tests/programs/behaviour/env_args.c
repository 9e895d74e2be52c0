/* Prints its arguments, its environment and its auxiliary vector. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char** argv, char** envp) {
  char text[512];
  struct utsname name;
  for (int i = 0; i < argc; i++) printf("argument %d: %s\n", i, argv[i]);
  for (char** e = envp; *e; e++) printf("environment: %s\n", *e);
  printf("invoked as %s, AT_EXECFN %s, page size %lu\n", program_invocation_short_name,
         (const char*)getauxval(AT_EXECFN), getauxval(AT_PAGESZ));
  ssize_t length = readlink("/proc/self/exe", text, sizeof text);
  printf("/proc/self/exe %.*s\n", (int)length, text);
  FILE* comm = fopen("/proc/self/comm", "r");
  if (comm && fgets(text, sizeof text, comm)) printf("comm %s", text);
  if (comm) fclose(comm);
  FILE* cmdline = fopen("/proc/self/cmdline", "r");
  if (cmdline) {
    printf("cmdline %zu bytes\n", fread(text, 1, sizeof text, cmdline));
    fclose(cmdline);
  }
  if (uname(&name) == 0) printf("%s %s\n", name.sysname, name.nodename);
  printf("user %d, processors %ld\n", (int)getuid(), sysconf(_SC_NPROCESSORS_ONLN));
  return 0;
}
