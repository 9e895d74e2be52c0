# What compilers rarely write, or write in ways that cannot be relied on. value_flow_test.cc has what is expected.
        .intel_syntax noprefix
        .text

        .macro function name
        .globl \name
        .type \name, @function
\name:
        .endm
        .macro done name
        .size \name, . - \name
        .endm
        # The announced read of x into eax.
        .macro read_x
        lea     rdi, x[rip]
        call    __tsan_read4@PLT
        mov     eax, x[rip]
        .endm

        # Copies x to a place, after y was announced.
        .macro copies_x_to place
        push    rbx
        lea     rdi, x[rip]
        call    __tsan_read4@PLT
        mov     ebx, x[rip]
        lea     rdi, y[rip]
        call    __tsan_write4@PLT
        mov     \place, ebx
        pop     rbx
        xor     eax, eax
        ret
        .endm

        # Dropped at once.
        function drops
        read_x
        xor     eax, eax
        ret
        done drops

        # The pointer in rbx is known to be the address that was announced.
        function loads_through_pointer
        push    rbx
        lea     rbx, x[rip]
        mov     rdi, rbx
        call    __tsan_read4@PLT
        mov     eax, [rbx]
        xor     eax, eax
        pop     rbx
        ret
        done loads_through_pointer

        # Not the address that was announced: which load it was is unknown.
        function loads_elsewhere
        lea     rdi, x[rip]
        call    __tsan_read4@PLT
        mov     eax, y[rip]
        xor     eax, eax
        ret
        done loads_elsewhere

        function loads_after_branch
        push    rbx
        mov     ebx, edi
        lea     rdi, x[rip]
        call    __tsan_read4@PLT
        test    ebx, ebx
        je      1f
        mov     eax, x[rip]
1:      xor     eax, eax
        pop     rbx
        ret
        done loads_after_branch

        # A store that no call announced.
        function stores_unannounced
        read_x
        mov     y[rip], eax
        xor     eax, eax
        ret
        done stores_unannounced

        function stores_announced
        copies_x_to y[rip]
        done stores_announced

        # The address that was announced is not the one written.
        function stores_beside
        copies_x_to y[rip+4]
        done stores_beside

        # In the frame, and back, and then dropped.
        function through_frame
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        mov     ecx, [rsp+8]
        xor     ecx, ecx
        add     rsp, 24
        ret
        done through_frame

        function branches_from_frame
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        cmp     dword ptr [rsp+8], 3
        jne     1f
        mov     ecx, 1
1:      add     rsp, 24
        ret
        done branches_from_frame

        # A part of the word that holds it.
        function branches_from_part
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        cmp     byte ptr [rsp+11], 3
        jne     1f
        mov     ecx, 1
1:      add     rsp, 24
        ret
        done branches_from_part

        # Overwritten before it is looked at.
        function overwrites
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        mov     dword ptr [rsp+8], 0
        cmp     dword ptr [rsp+8], 3
        jne     1f
        mov     ecx, 1
1:      add     rsp, 24
        ret
        done overwrites

        function indexes_frame
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        mov     ecx, [rsp+rsi*4]
        test    ecx, ecx
        jne     1f
        mov     ecx, 1
1:      add     rsp, 24
        ret
        done indexes_frame

        # The variable lies in the frame, and is looked at once more without being announced.
        function looks_again_in_frame
        sub     rsp, 24
        lea     rdi, [rsp+8]
        call    __tsan_read4@PLT
        mov     eax, [rsp+8]
        xor     eax, eax
        jmp     1f
1:      cmp     dword ptr [rsp+8], 3
        jne     2f
        mov     ecx, 1
2:      add     rsp, 24
        ret
        done looks_again_in_frame

        # What is stored may leave bytes as they were.
        function stores_parts
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        vmaskmovps [rsp+8], xmm3, xmm4
        cmp     dword ptr [rsp+8], 3
        jne     1f
        mov     ecx, 1
1:      add     rsp, 24
        ret
        done stores_parts

        # Into a register's upper half, which stays there while the lower one is replaced.
        function loads_wide
        sub     rsp, 40
        read_x
        mov     [rsp+24], eax
        xor     eax, eax
        vmovups ymm0, [rsp]
        pxor    xmm0, xmm0
        vextractf128 xmm1, ymm0, 1
        vmovd   ecx, xmm1
        test    ecx, ecx
        jne     1f
        mov     ecx, 1
1:      add     rsp, 40
        ret
        done loads_wide

        # A nested function gets the frame in r10.
        function lends_frame
        sub     rsp, 24
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        lea     r10, [rsp+8]
        call    getpid@PLT
        add     rsp, 24
        ret
        done lends_frame

        # A part of the function lies elsewhere, and jumps back.
        function comes_back
        sub     rsp, 24
        test    esi, esi
        jne     comes_back.cold
1:      read_x
        xor     eax, eax
        add     rsp, 24
        ret
        done comes_back
        function comes_back.cold
        lea     rdi, [rsp+8]
        call    getpid@PLT
        jmp     1b
        done comes_back.cold

        function does_not_come_back
        sub     rsp, 24
        test    esi, esi
        jne     does_not_come_back.cold
        read_x
        xor     eax, eax
        add     rsp, 24
        ret
        done does_not_come_back
        function does_not_come_back.cold
        call    abort@PLT
        done does_not_come_back.cold

        # Above the return address lies the caller's memory.
        function writes_for_caller
        read_x
        mov     [rsp+8], eax
        xor     eax, eax
        ret
        done writes_for_caller

        function passes_on_stack
        sub     rsp, 24
        read_x
        mov     [rsp], eax
        xor     eax, eax
        call    getpid@PLT
        add     rsp, 24
        ret
        done passes_on_stack

        function pushes
        read_x
        push    rax
        xor     eax, eax
        call    getpid@PLT
        add     rsp, 8
        ret
        done pushes

        function jumps_to_it
        read_x
        jmp     rax
        done jumps_to_it

        function tail_call_with_it
        read_x
        mov     edi, eax
        xor     eax, eax
        jmp     getpid@PLT
        done tail_call_with_it

        function tail_call_without_it
        read_x
        xor     eax, eax
        jmp     getpid@PLT
        done tail_call_without_it

        # rdi holds it still, wherever the jump goes.
        function leaves
        read_x
        mov     edi, eax
        xor     eax, eax
        jmp     beyond
        done leaves
        nop
beyond: ret

        function divides_by_it
        read_x
        mov     ecx, eax
        mov     eax, 7
        xor     edx, edx
        div     ecx
        xor     eax, eax
        xor     edx, edx
        ret
        done divides_by_it

        function compares_only
        read_x
        cmp     eax, 3
        xor     eax, eax
        ret
        done compares_only

        function adds_carry
        read_x
        cmp     eax, 3
        mov     ecx, 0
        adc     ecx, 0
        jecxz   1f
        nop
1:      xor     eax, eax
        ret
        done adds_carry

        function asks_kernel
        read_x
        mov     edi, eax
        mov     eax, 39
        syscall
        xor     eax, eax
        ret
        done asks_kernel

        # The callee is in this file, so it may leave what it need not keep.
        function survives_local_call
        read_x
        mov     r11d, eax
        xor     eax, eax
        call    1f
        test    r11d, r11d
        jne     1f
1:      ret
        done survives_local_call

        # Of a call to another file nothing is left.
        function dies_at_call
        read_x
        call    getpid@PLT
        xor     eax, eax
        ret
        done dies_at_call

        # Undecodable.
        function not_code
        read_x
        xor     eax, eax
        ret
        .byte   0x06
        done not_code

        # Into the middle of an instruction, which does something else then.
        function into_instruction
        read_x
        mov     ecx, eax
        xor     eax, eax
        jmp     1f+2
1:      mov     edx, 0xc3c3c3c3
        ret
        done into_instruction

        # In a loop, so that what one turn keeps meets the next turn's branch.
        function meets_next_turn
        push    rbx
        xor     ebx, ebx
1:      test    ebx, ebx
        jne     2f
        lea     rdi, x[rip]
        call    __tsan_read4@PLT
        mov     ebx, x[rip]
        jmp     1b
2:      pop     rbx
        xor     eax, eax
        ret
        done meets_next_turn

        function no_size
        .globl no_size
        read_x
        xor     eax, eax
        ret

        .section .note.GNU-stack, "", @progbits
