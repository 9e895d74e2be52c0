// The functions of library_calls.inc. Each keeps all arguments, including those in vector registers and on the stack,
// reports its accesses, and jumps to the default version of the C library's function, which is looked up at the first
// call.
#include <dlfcn.h>
#include <grp.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "recorder/shim/tsan/library_access.h"

// reweave_find_function keeps all registers with arguments and jumps to the function that it finds.
asm(R"(
  .pushsection .text
  .local reweave_find_function
  .type reweave_find_function, @function
reweave_find_function:
  .cfi_startproc
  .cfi_def_cfa_offset 24  # name, where to store the address, the caller
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rax
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %r10
  subq $128, %rsp
  andq $-16, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movq 8(%rbp), %rdi
  movq 16(%rbp), %rsi
  call reweave_look_up
  movq %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  leaq -64(%rbp), %rsp
  popq %r10
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  popq %rbp
  .cfi_def_cfa %rsp, 24
  addq $16, %rsp
  .cfi_adjust_cfa_offset -16
  jmp *%r11
  .cfi_endproc
  .local reweave_nothing
  .type reweave_nothing, @function
reweave_nothing:
  .cfi_startproc
  xorl %eax, %eax
  ret
  .cfi_endproc
  .popsection

  # Jumps to the function called \target; may use %r11. `search`: where to look (reweave_look_up).
  .macro REWEAVE_ON_TO name, target, search
  .pushsection .rodata
  .Ltarget_\name: .byte \search
  .asciz "\target"
  .popsection
  .local .Lfound_\name
  .comm .Lfound_\name, 8, 8
  movq .Lfound_\name(%rip), %r11
  testq %r11, %r11
  jz .Lfind_\name
  jmp *%r11
.Lfind_\name:
  leaq .Lfound_\name(%rip), %r11
  pushq %r11
  .cfi_adjust_cfa_offset 8
  leaq .Ltarget_\name(%rip), %r11
  pushq %r11
  .cfi_adjust_cfa_offset 8
  jmp reweave_find_function
  .cfi_adjust_cfa_offset -16
  .endm

  .macro REWEAVE_BEGIN name
  .pushsection .text
  .balign 16
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  .endm

  .macro REWEAVE_END name
  .cfi_endproc
  .size \name, . - \name
  .popsection
  .endm

  .macro REWEAVE_NOTHING name
  .globl \name
  .type \name, @function
  .set \name, reweave_nothing
  .endm

  .macro REWEAVE_FORWARD name, target, search
  REWEAVE_BEGIN \name
  REWEAVE_ON_TO \name, \target, \search
  REWEAVE_END \name
  .endm

  # Pushes a LibraryFrame: arguments, %rax; the caller's address is on the stack already.
  .macro REWEAVE_TELL_BEFORE name
  pushq %rax
  pushq %r9
  pushq %r8
  pushq %rcx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  .cfi_adjust_cfa_offset 56
  leaq reweave_call_\name(%rip), %rdi
  movq %rsp, %rsi
  call reweave_before_call
  xorl %r10d, %r10d
  .endm

  .macro REWEAVE_BEFORE name
  REWEAVE_BEGIN \name
  REWEAVE_TELL_BEFORE \name
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rcx
  popq %r8
  popq %r9
  popq %rax
  .cfi_adjust_cfa_offset -56
  REWEAVE_ON_TO \name, \name, 0
  REWEAVE_END \name
  .endm

  # Clears the caller-saved registers, which would differ between runs that report accesses and runs that do not.
  .macro REWEAVE_AROUND name
  REWEAVE_BEGIN \name
  REWEAVE_TELL_BEFORE \name
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  call .Lon_\name
  pushq %rax
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  leaq reweave_call_\name(%rip), %rdi
  leaq 16(%rsp), %rsi
  movq %rax, %rdx
  call reweave_after_call
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rax
  .cfi_adjust_cfa_offset -8
  addq $56, %rsp
  .cfi_adjust_cfa_offset -56
  xorl %ecx, %ecx
  xorl %esi, %esi
  xorl %edi, %edi
  xorl %r8d, %r8d
  xorl %r9d, %r9d
  xorl %r10d, %r10d
  xorl %r11d, %r11d
  ret
  .cfi_endproc
  .cfi_startproc
.Lon_\name:
  REWEAVE_ON_TO \name, \name, 0
  REWEAVE_END \name
  .endm
)");

namespace reweave::shim {

namespace {

template <typename... Accesses>
constexpr LibraryCall call_of(Accesses... accesses) {
  static_assert(sizeof...(accesses) <= LibraryCall::kMaxAccesses);
  return {sizeof...(accesses), {accesses...}};
}

constexpr std::uint8_t kBehindUs = 0;

[[noreturn]] void refuse(const char* name) {
  const char* parts[] = {"reweave: the program calls ", name, ", which none of its libraries has\n"};
  for (const char* part : parts) {
    std::size_t length = 0;
    while (part[length] != 0) length++;
    [[maybe_unused]] const auto written = ::write(2, part, length);
  }
  ::abort();
}

// A program that gets libm through ThreadSanitizer's runtime might not itself be linked with libm, so libm is opened
// here.
void* find_in_libm(const char* name) {
  void* libm = dlopen("libm.so.6", RTLD_NOW);
  return libm == nullptr ? nullptr : dlsym(libm, name);
}

}  // namespace

// `target`: a byte that says where to look (kBehindUs: in the libraries loaded after this one; else in all), then the
// function's name. Stores the function's address in `found`.
extern "C" [[gnu::visibility("hidden"), gnu::used]] void* reweave_look_up(const char* target, void** found) {
  *found = dlsym(target[0] == kBehindUs ? RTLD_NEXT : RTLD_DEFAULT, target + 1);
  if (*found == nullptr) *found = find_in_libm(target + 1);
  if (*found == nullptr) refuse(target + 1);
  return *found;
}

// Resolves pthread_setcanceltype and sigsetjmp now, because libreweave.so calls them where no other thread may run, and
// a first call may block in the loader.
[[gnu::constructor]] void find_what_waits_use() {
  int type = 0;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
  pthread_setcanceltype(type, nullptr);
  sigjmp_buf nowhere;
  sigsetjmp(nowhere, 0);
}

#define CALL_ROW(name, ...)                                                                             \
  extern "C" [[gnu::visibility("hidden"), gnu::used]] constinit const LibraryCall reweave_call_##name = \
      call_of(__VA_ARGS__);
#define FORWARD(name) asm("REWEAVE_FORWARD " #name ", " #name ", 0");
#define LEADS_TO(name, target) asm("REWEAVE_FORWARD " #name ", " #target ", 1");
#define INTERCEPTOR(name) asm("REWEAVE_FORWARD __interceptor_" #name ", " #name ", 1");
#define NOTHING(name) asm("REWEAVE_NOTHING " #name);
#define SYSTEM_CALL(name)                      \
  NOTHING(__sanitizer_syscall_pre_impl_##name) \
  NOTHING(__sanitizer_syscall_post_impl_##name)
#define BEFORE(name, ...)     \
  CALL_ROW(name, __VA_ARGS__) \
  asm("REWEAVE_BEFORE " #name);
#define AROUND(name, ...)     \
  CALL_ROW(name, __VA_ARGS__) \
  asm("REWEAVE_AROUND " #name);
#include "recorder/shim/tsan/library_calls.inc"
#include "recorder/shim/tsan/runtime_names.inc"

}  // namespace reweave::shim
