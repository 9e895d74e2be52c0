/* Loads libm at run time, calls it, and unloads it; a missing symbol gives an error. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  void* library = dlopen("libm.so.6", RTLD_NOW);
  if (!library) return 1;
  void* symbol = dlsym(library, "cos");
  double (*cosine)(double);
  memcpy(&cosine, &symbol, sizeof symbol);
  printf("cos at %p: %f\n", symbol, cosine(0.5));
  printf("missing: %d\n", dlsym(library, "no_such_function") == NULL && dlerror() != NULL);
  printf("closed %d\n", dlclose(library));
  printf("missing library: %d\n", dlopen("libnosuchthing.so", RTLD_NOW) == NULL);
  return 0;
}
