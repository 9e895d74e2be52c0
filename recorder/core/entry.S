// Entries to and exits from the core that C++ cannot express.

#include <asm/unistd.h>

        .text

// A place in the core for a debugger's breakpoint. A process that shares the debugged one's memory reaches it too and
// must be able to skip it, so the instruction there does nothing (pass_debugger_stop in faults.cc).
        .macro  DEBUGGER_STOP
        nop
        .endm

// First instruction of the image: the kernel's stack layout is at rsp.
        .globl  _start
        .hidden _start
        .type   _start, @function
_start:
        .cfi_startproc
        .cfi_undefined rip
        xorl    %ebp, %ebp
        movq    %rsp, %rdi
        andq    $-16, %rsp
        call    core_start
        ud2
        .cfi_endproc
        .size   _start, .-_start

// Signal return. gdb and libunwind recognise a signal frame by exactly these bytes. If there is a symbol, gdb also
// checks that it has the C library's name.
        .globl  core_restorer
        .hidden core_restorer
        .type   __restore_rt, @function
        .balign 16
        nop     // unwinders look up the instruction before a return address, which must not be in _start
        .set    core_restorer, __restore_rt
__restore_rt:
        movq    $__NR_rt_sigreturn, %rax
        syscall
        .size   __restore_rt, .-__restore_rt

// void core_sigreturn(KernelContext*): the kernel expects the frame's context at rsp.
        .globl  core_sigreturn
        .hidden core_sigreturn
        .type   core_sigreturn, @function
core_sigreturn:
        .cfi_startproc
        .cfi_undefined rip      // nothing called it: debuggers would guess a frame
        DEBUGGER_STOP
        movq    %rdi, %rsp
        movq    $__NR_rt_sigreturn, %rax
        syscall
        ud2
        .cfi_endproc
        .size   core_sigreturn, .-core_sigreturn

// long core_blocking_syscall(long number, const long* args, const uint64_t* interruptions)
// A signal that arrives before the `syscall` instruction would be queued while the call sleeps. So the handler moves an
// instruction pointer within [core_blocking_begin, core_blocking_end) to core_blocking_interrupted.
        .globl  core_blocking_syscall
        .hidden core_blocking_syscall
        .type   core_blocking_syscall, @function
core_blocking_syscall:
        .cfi_startproc
        movq    %rdi, %rax
        movq    %rdx, %rcx
        movq    %rsi, %r11
        movq    0(%r11), %rdi
        movq    8(%r11), %rsi
        movq    16(%r11), %rdx
        movq    24(%r11), %r10
        movq    32(%r11), %r8
        movq    40(%r11), %r9
        .globl  core_blocking_begin
        .hidden core_blocking_begin
core_blocking_begin:
        cmpq    $0, (%rcx)
        jne     core_blocking_interrupted
        syscall
        .globl  core_blocking_end
        .hidden core_blocking_end
core_blocking_end:
        ret
        .globl  core_blocking_interrupted
        .hidden core_blocking_interrupted
core_blocking_interrupted:
        movq    $-512, %rax     // kNotStarted of signals.h
        ret
        .cfi_endproc
        .size   core_blocking_syscall, .-core_blocking_syscall

// long core_guarded(long (*body)(void*), void* argument, uint64_t* frame)
// Calls body(argument). To abandon the body and return -EFAULT, a fault handler sets the stack pointer to *frame and
// the instruction pointer to core_guarded_fault.
        .globl  core_guarded
        .hidden core_guarded
        .type   core_guarded, @function
core_guarded:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        subq    $8, %rsp
        movq    %rsp, (%rdx)
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
1:      addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .globl  core_guarded_fault
        .hidden core_guarded_fault
core_guarded_fault:
        movq    $-14, %rax
        jmp     1b
        .cfi_endproc
        .size   core_guarded, .-core_guarded

// long core_clone(long number, long a, long b, long c, long d, long e, Thread* child)
// The child starts on the stack given to the kernel, in core_thread_main(child).
        .globl  core_clone
        .hidden core_clone
        .type   core_clone, @function
core_clone:
        .cfi_startproc
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        testq   %rax, %rax
        jz      1f
        ret
1:
        .cfi_undefined rip
        xorl    %ebp, %ebp
        movq    %r9, %rdi
        andq    $-16, %rsp
        call    core_thread_main
        ud2
        .cfi_endproc
        .size   core_clone, .-core_clone

// void core_park(uint32_t* word, uint32_t seen, ParkedThread* parked, uint64_t state_bytes, uint32_t roll_call)
// Sleeps like FUTEX_WAIT, after saving all that the thread needs to continue in a copy (schedule/roll_call.h).
// `state_bytes`: size of the extended state. The copy continues by core_unpark. Offsets are those of ParkedThread.
        .set    PARKED_STACK, 0
        .set    PARKED_FRAME, 8
        .set    PARKED_ANSWERED, 16
        .globl  core_park, core_unpark
        .hidden core_park, core_unpark
        .type   core_park, @function
core_park:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rdx, %r9
        subq    %rcx, %rsp
        andq    $-64, %rsp
        leaq    512(%rsp), %rdx         // the header, of which XSAVE writes a part only
        xorl    %eax, %eax
        movl    $8, %ecx
1:      movq    %rax, -8(%rdx,%rcx,8)
        loop    1b
        movl    $-1, %eax
        movl    $-1, %edx
        xsave64 (%rsp)
        movq    %rsp, PARKED_STACK(%r9)
        movq    %rbp, PARKED_FRAME(%r9)
        movl    %r8d, PARKED_ANSWERED(%r9)
        movl    %esi, %edx
        xorl    %esi, %esi              // FUTEX_WAIT
        xorl    %r10d, %r10d
        movl    $__NR_futex, %eax
        syscall
core_parked:
        leaq    -40(%rbp), %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   core_park, .-core_park

// void core_unpark(const ParkedThread*): in the copy of a thread, on its core stack below what was saved there.
        .type   core_unpark, @function
core_unpark:
        .cfi_startproc
        .cfi_undefined rip
        movq    PARKED_FRAME(%rdi), %rbp
        movq    PARKED_STACK(%rdi), %rsp
        movl    $-1, %eax
        movl    $-1, %edx
        xrstor64 (%rsp)
        jmp     core_parked
        .cfi_endproc
        .size   core_unpark, .-core_unpark

// void core_enter_program(uint64_t stack, uint64_t entry)
        .globl  core_enter_program
        .hidden core_enter_program
        .type   core_enter_program, @function
core_enter_program:
        .cfi_startproc
        .cfi_undefined rip
        DEBUGGER_STOP
        movq    %rdi, %rsp
        movq    %rsi, %rax
        xorl    %ebx, %ebx
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        xorl    %edi, %edi
        xorl    %ebp, %ebp
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        xorl    %r11d, %r11d
        xorl    %r12d, %r12d
        xorl    %r13d, %r13d
        xorl    %r14d, %r14d
        xorl    %r15d, %r15d
        pushq   %rax
        xorl    %eax, %eax
        ret
        .cfi_endproc
        .size   core_enter_program, .-core_enter_program

// void core_note_end(int wait_status), void core_note_stop(WireOutcome, const char* message), and void
// core_note_leave(), called before a handler returns to the program: they do nothing, but debuggers set breakpoints
// there. core_note_hold: a replay holds for a debugger. core_note_vforked: a process has its memory to itself again.
        .globl  core_note_end, core_note_stop, core_note_leave, core_note_hold, core_note_vforked
        .hidden core_note_end, core_note_stop, core_note_leave, core_note_hold, core_note_vforked
        .type   core_note_vforked, @function
core_note_vforked:
        .cfi_startproc
        DEBUGGER_STOP
        ret
        .cfi_endproc
        .size   core_note_vforked, .-core_note_vforked
        .type   core_note_leave, @function
core_note_leave:
        .cfi_startproc
        DEBUGGER_STOP
        ret
        .cfi_endproc
        .size   core_note_leave, .-core_note_leave
        .type   core_note_hold, @function
core_note_hold:
        .cfi_startproc
        DEBUGGER_STOP
        ret
        .cfi_endproc
        .size   core_note_hold, .-core_note_hold
        .type   core_note_end, @function
core_note_end:
        .cfi_startproc
        DEBUGGER_STOP
        ret
        .cfi_endproc
        .size   core_note_end, .-core_note_end
        .type   core_note_stop, @function
core_note_stop:
        .cfi_startproc
        DEBUGGER_STOP
        ret
        .cfi_endproc
        .size   core_note_stop, .-core_note_stop

// void core_exec_stop(uint64_t stack, uint64_t entry): like core_enter_program, but through the SIGTRAP handler
// (begin_image in faults.cc), where a traced image can stop with registers of its own.
        .globl  core_exec_stop, core_exec_stopped
        .hidden core_exec_stop, core_exec_stopped
        .type   core_exec_stop, @function
core_exec_stop:
        int3
core_exec_stopped:
        ud2
        .size   core_exec_stop, .-core_exec_stop

// void core_call_on(uint64_t stack_top, void (*function)())
        .globl  core_call_on
        .hidden core_call_on
        .type   core_call_on, @function
core_call_on:
        movq    %rdi, %rsp
        xorl    %ebp, %ebp
        call    *%rsi
        ud2
        .size   core_call_on, .-core_call_on

// Entry from code of the target: switches from the target's stack, which is left unchanged, to the core's.
        .macro  ON_CORE_STACK
        .cfi_startproc
        .cfi_undefined rip
        movq    %rsp, %gs:80
        movq    %gs:16, %rsp
        .endm

// Targets of the shim's jumps at its schedule points (the slow path; core_api.h) and before events with a call stack in
// the trace: all registers and the stack of the target are kept. The argument is the target's registers
// (StackRegisters).
        .macro  KEEPING name, target
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        ON_CORE_STACK
        pushq   %gs:72
        pushq   %gs:80
        pushq   %rbp
        movq    %rsp, %rbp
        // The frame of the point: its stack pointer is at 8(%rbp), its address at 16(%rbp), its %rbp at 0(%rbp).
        .cfi_escape 0x0f, 3, 0x76, 8, 0x06
        .cfi_escape 0x10, 16, 2, 0x76, 16
        .cfi_escape 0x10, 6, 2, 0x76, 0
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        pushq   %gs:64
        leaq    -40(%rbp), %rdi
        andq    $-16, %rsp
        call    \target
core_leave_\target:
        DEBUGGER_STOP           // replayer/gdb/stepping.py
        leaq    -112(%rbp), %rsp
        popq    %rax
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        leaq    40(%rsp), %rsp
        popq    %rbp
        popq    %rsp
        .cfi_def_cfa rsp, 0
        .cfi_same_value rbp
        .cfi_undefined rip
        jmp     *%gs:72
        .cfi_endproc
        .size   \name, .-\name
        .endm

        KEEPING api_point, core_api_point
        KEEPING api_stack, core_api_stack
        KEEPING api_sled, core_api_sled

// Never executed here. Stubs of sleds (core/code/sleds.h) jump to a copy of this code after storing rdi, the operands
// and the entry. After the core has returned, a due signal is delivered, with its frame below the red zone of the
// function with the sled. %gs:48 is the address at which the program continues. The `syscall` must not be in the core,
// where it would be a real one.
        .set    SHELVED, 128            // Thread::shelved
        .set    DELIVER_SIGNALS, 0x5257 // kDeliverSignals of core_api.h
        .globl  core_sled_common, core_sled_common_end
        .hidden core_sled_common, core_sled_common_end
core_sled_common:
        movq    %gs:SHELVED, %rdi
        movq    %rax, %gs:64
        leaq    1f(%rip), %rax
        movq    %rax, %gs:72
        movabsq $api_sled, %rax
        jmp     *%rax
1:      cmpq    $0, %gs:32
        jne     2f
        jmp     *%gs:48
2:      leaq    -128(%rsp), %rsp
        pushq   %rax
        pushq   %rcx
        pushq   %r11
        pushq   %gs:48
        movl    $DELIVER_SIGNALS, %eax
        syscall
        popq    %gs:48
        popq    %r11
        popq    %rcx
        popq    %rax
        leaq    128(%rsp), %rsp
        jmp     *%gs:48
core_sled_common_end:

// Target of the stubs of patched system calls (patching.h): the registers are the call's, except that rcx has the
// address of the call and r11 the address to continue at. Builds a KernelContext (kernel_types.h), to which the offsets
// refer.
        .set    CONTEXT_BYTES, 304
        .set    R8, 40
        .set    R11, 64
        .set    RDI, 104
        .set    RSP, 160
        .set    EFLAGS, 176
        .globl  api_call
        .hidden api_call
        .type   api_call, @function
api_call:
        ON_CORE_STACK
        pushfq
        cld
        subq    $CONTEXT_BYTES + 8, %rsp
        movq    %r8, R8(%rsp)
        movq    %r9, R8 + 8(%rsp)
        movq    %r10, R8 + 16(%rsp)
        movq    %r12, R11 + 8(%rsp)
        movq    %r13, R11 + 16(%rsp)
        movq    %r14, R11 + 24(%rsp)
        movq    %r15, R11 + 32(%rsp)
        movq    %rdi, RDI(%rsp)
        movq    %rsi, RDI + 8(%rsp)
        movq    %rbp, RDI + 16(%rsp)
        movq    %rbx, RDI + 24(%rsp)
        movq    %rdx, RDI + 32(%rsp)
        movq    %rax, RDI + 40(%rsp)
        movq    %rcx, RDI + 48(%rsp)
        movq    %rcx, RSP + 8(%rsp)
        movq    %gs:80, %rcx
        movq    %rcx, RSP(%rsp)
        movq    CONTEXT_BYTES + 8(%rsp), %rcx
        movq    %rcx, EFLAGS(%rsp)
        movq    %rcx, R11(%rsp)         // as the `syscall` instruction leaves it
        movq    $0, EFLAGS + 48(%rsp)   // no floating-point state
        movq    %rsp, %rdi
        movq    %r11, %rsi
        movq    %rsp, %rbp
        // The frame that made the call, from the context.
        .cfi_escape 0x0f, 4, 0x76, 0xa0, 0x01, 0x06
        .cfi_escape 0x10, 16, 3, 0x76, 0xa8, 0x01
        .cfi_escape 0x10, 6, 3, 0x76, 0xf8, 0x00
        .cfi_escape 0x10, 3, 3, 0x76, 0x80, 0x01
        .cfi_escape 0x10, 12, 3, 0x76, 0xc8, 0x00
        .cfi_escape 0x10, 13, 3, 0x76, 0xd0, 0x00
        .cfi_escape 0x10, 14, 3, 0x76, 0xd8, 0x00
        .cfi_escape 0x10, 15, 3, 0x76, 0xe0, 0x00
        call    core_on_patched_call
        movq    %rax, %gs:72
        movq    R8(%rsp), %r8
        movq    R8 + 8(%rsp), %r9
        movq    R8 + 16(%rsp), %r10
        movq    R11(%rsp), %r11
        movq    RDI(%rsp), %rdi
        movq    RDI + 8(%rsp), %rsi
        movq    RDI + 16(%rsp), %rbp
        movq    RDI + 32(%rsp), %rdx
        movq    RDI + 40(%rsp), %rax
        pushq   EFLAGS(%rsp)
        popfq
        movq    RDI + 48(%rsp), %rcx
        movq    RSP(%rsp), %rsp
        .cfi_def_cfa rsp, 0
        .cfi_same_value rbp
        .cfi_undefined rip
        jmp     *%gs:72
        .cfi_endproc
        .size   api_call, .-api_call

// Target of the stubs of patched reads of the time stamp counter (patching.h): rax has the address at which the stub
// continues. Everything but rax and rdx is kept.
        .globl  api_clock
        .hidden api_clock
        .type   api_clock, @function
api_clock:
        ON_CORE_STACK
        pushq   %gs:80
        pushfq
        cld
        pushq   %rcx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        subq    $8, %rsp
        movq    %rax, %rdi
        call    core_on_patched_clock   // returns the value in rax, the address to continue at in rdx
        movq    %rdx, %gs:72
        movq    %rax, %rdx
        shrq    $32, %rdx
        movl    %eax, %eax
        addq    $8, %rsp
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rcx
        popfq
        popq    %rsp
        jmp     *%gs:72
        .cfi_endproc
        .size   api_clock, .-api_clock

// Zeroes the memory from 0x40(%rsp) to rbx. Changes rax, rcx and rdi.
        .macro  WIPE_SAVE_AREA
        leaq    0x40(%rsp), %rdi
        movq    %rbx, %rcx
        subq    %rdi, %rcx
        shrq    $3, %rcx
        xorl    %eax, %eax
        rep stosq
        .endm

// Never executed here, but copied next to the loader (vector_saves.h). The loader has reached its `xsavec 0x40(%rsp)`:
// the mask is in eax and edx, the end of the save area in rbx, and the argument registers are saved. Everything that
// XSAVEC leaves out is zeroed first; then the header says that everything was stored. The constant is replaced by the
// components of the recording processor, because the area has no room for more.
        .globl  core_save_vectors, core_save_vectors_masked, core_save_vectors_here, core_save_vectors_end
        .hidden core_save_vectors, core_save_vectors_masked, core_save_vectors_here, core_save_vectors_end
core_save_vectors:
        movl    %eax, %r8d
        andl    $0x7fffffff, %r8d
core_save_vectors_masked:
        WIPE_SAVE_AREA
        movl    %r8d, %eax
        xorl    %edx, %edx
core_save_vectors_here:
        xsavec  0x40(%rsp)
        stmxcsr 0x40 + 24(%rsp)
        movl    $0, 0x40 + 28(%rsp)     // the mask of mxcsr
        xorl    %ecx, %ecx
        xgetbv
        andl    %r8d, %eax
        movq    %rax, 0x40 + 512(%rsp)
core_save_vectors_end:

// The same for its `xrstor 0x40(%rsp)` or fxrstor. The saved state depends on the processor, so it is wiped from the
// stack. The registers used are restored afterwards.
        .globl  core_restore_vectors, core_restore_vectors_masked, core_restore_vectors_here, core_restore_vectors_end
        .hidden core_restore_vectors, core_restore_vectors_masked, core_restore_vectors_here, core_restore_vectors_end
core_restore_vectors:
        andl    $0x7fffffff, %eax
core_restore_vectors_masked:
core_restore_vectors_here:
        xrstor  0x40(%rsp)
        WIPE_SAVE_AREA
core_restore_vectors_end:

// The shim's calls: the same arguments, on the core's stack. The target's memory below its stack pointer stays
// unchanged, so it does not depend on what the core did. What the shim does for a trace is on the core's stack already
// and stays there.
        .set    CORE_STACK_BYTES, 128 << 10     // kCoreStackBytes of arena.h
        .macro  API name, target
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq    %gs:16, %rax
        subq    %rsp, %rax
        cmpq    $CORE_STACK_BYTES, %rax
        jb      1f
        movq    %gs:16, %rsp
1:      andq    $-16, %rsp
        call    \target
        // Register contents left by the core differ between recording and replay, and a program may pass them on.
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        xorl    %edi, %edi
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        xorl    %r11d, %r11d
core_leave_\target:
        DEBUGGER_STOP           // replayer/gdb/stepping.py
        leave
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

        API     api_block, core_api_block
        API     api_wake, core_api_wake
        API     api_trace_room, core_api_trace_room
        API     api_at_main, core_api_at_main
        API     api_memory_error, core_api_memory_error
        API     api_note_instrumented, core_api_note_instrumented
        API     api_choose, core_api_choose
        API     api_call_directly, core_api_call_directly

        .section .note.GNU-stack, "", @progbits
