== catch calls
catch syscall pipe2
catch syscall nanosleep clock_nanosleep
info breakpoints
! breakpoint
continue
bt
~ pipe|main
continue
continue
bt 1
~ sleep
continue
delete
continue

== catch by number
tbreak main
continue
catch syscall 39
continue
continue
continue
continue
info breakpoints
~ .
delete
continue

== catch by group
catch syscall group:process
~ .
catch syscall nothing_like_it
tbreak main
continue
catch syscall write read
continue
continue
continue
continue
print written
~ .
bt
~ write|read

== catch any
tbreak through_pipe
continue
catch syscall
continue
continue
continue
continue
info breakpoints
! breakpoint

== steps over calls
tbreak through_pipe
continue
next
next
next
print received
next
next
next
next
next
next
next
next
print failure
step
step
next
next

== values of the C library
tbreak main
continue
tbreak 37
continue
print errno
print $_siginfo
~ .
print (int)getpid() == id
print $rax
~ .

== catch with commands
tbreak through_pipe
continue
catch syscall write
commands
silent
bt 1
continue
end
continue
~ write.c
info breakpoints
! breakpoint

== catch once
tcatch syscall nanosleep clock_nanosleep
continue
bt -1
~ .
continue
info breakpoints
