// Loads a library, calls one of its functions, and unloads it.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int (*twice)(int);

static void* load(const char* program) {
  char path[4096];
  snprintf(path, sizeof path, "%s", program);
  char* slash = strrchr(path, '/');
  strcpy(slash + 1, "libsession_plugin.so");
  return dlopen(path, RTLD_NOW);
}

int main(int argc, char** argv) {
  void* library = load(argv[0]);
  if (library == NULL) return 2;
  twice = (int (*)(int))dlsym(library, "plugin_twice");
  int result = twice(21);
  dlclose(library);
  return result == 42 ? 0 : 1;
}
