== signals stop
info signals SIGUSR1
continue
bt
~ raise|pthread_kill|main
print $_siginfo.si_signo
info program
~ .
continue
handle SIGSEGV SIGTERM nostop noprint
~ .
continue
continue

== handlers
handle SIGUSR1 nostop noprint pass
break on_user
continue
bt
~ raise|pthread_kill
print number
up
frame
finish
~ .
delete
info signals SIGUSR1
handle SIGALRM stop print
continue
bt 1
~ kill

== steps into and over handlers
handle SIGUSR1 nostop noprint pass
tbreak raise_it
continue
next
next
next
print seen
break on_user
next
next
bt
~ raise|pthread_kill
step
step
step
info locals
delete
finish
~ .

== next out of a handler
handle SIGUSR1 nostop noprint pass
break on_user
continue
next
next
next
!held signal handler called
next
next
next
bt

== catch a signal
catch signal SIGUSR1
info breakpoints
continue
bt
~ raise|pthread_kill|main
continue

== a fault that is handled
handle SIGUSR1 SIGALRM SIGTERM nostop noprint pass
tbreak on_fault
handle SIGSEGV nostop noprint pass
continue
bt
print number
print info->si_signo
print info->si_addr
next
tbreak 48
next
next
print fault

== long jumps
handle SIGUSR1 SIGALRM SIGSEGV SIGTERM nostop noprint pass
tbreak 49
continue
next
next
next
next
next
next
next
~ main=
print leaps
step
~ main=
step
~ main=
next
~ main=
info locals
~ action
print seen

== info signals
info signals 14
info signals SIGSEGV
! SIGSEGV +No
handle SIGTERM nostop
handle 14 noprint
handle SIGSEGV SIGTERM SIGALRM SIGUSR1 nostop print
~ SIGSEGV
continue
~ SIGSEGV|SIGTERM

== the end
handle SIGUSR1 SIGALRM SIGSEGV SIGTERM nostop noprint pass
tbreak main
continue
break exit
continue
bt
~ exit|libc|_start
finish
print $_exitcode
