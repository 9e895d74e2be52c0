// The program's entry into main, where explored runs begin.
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

using Main = int (*)(int, char**, char**);
Real<int(Main, int, char**, void (*)(), void (*)(), void (*)(), void*)> real_start = {"__libc_start_main"};
Main program_main;

int enter_main(int argc, char** argv, char** envp) {
  api().at_main();
  return program_main(argc, argv, envp);
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave::shim;  // NOLINT: the interposed function is global

REWEAVE_EXPORT int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                     void (*rtld_fini)(), void* stack_end) {
  program_main = main;
  return real_start(enter_main, argc, argv, init, fini, rtld_fini, stack_end);
}
