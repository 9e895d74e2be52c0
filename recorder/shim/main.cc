// The program's entry into main, where explored runs begin.
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

using Main = int (*)(int, char**, char**);
Real<int(Main, int, char**, void (*)(), void (*)(), void (*)(), void*)> real_start = {"__libc_start_main"};
Main program_main;

[[gnu::used]] void reached_main() { api().at_main(); }

// main returns to the same address as without the shim. Programs rely on that: Free Pascal's leave main from anywhere
// through that address, with an arbitrary stack pointer, because what the C library does there needs no stack.
[[gnu::naked]] int enter_main(int, char**, char**) {
  asm volatile(
      "pushq %%rdi\n\t.cfi_adjust_cfa_offset 8\n\t"
      "pushq %%rsi\n\t.cfi_adjust_cfa_offset 8\n\t"
      "pushq %%rdx\n\t.cfi_adjust_cfa_offset 8\n\t"
      "call %P0\n\t"
      "popq %%rdx\n\t.cfi_adjust_cfa_offset -8\n\t"
      "popq %%rsi\n\t.cfi_adjust_cfa_offset -8\n\t"
      "popq %%rdi\n\t.cfi_adjust_cfa_offset -8\n\t"
      "jmp *%1"
      :
      : "i"(reached_main), "m"(program_main));
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave::shim;  // NOLINT: the interposed function is global

REWEAVE_EXPORT int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                     void (*rtld_fini)(), void* stack_end) {
  program_main = main;
  return real_start(enter_main, argc, argv, init, fini, rtld_fini, stack_end);
}
