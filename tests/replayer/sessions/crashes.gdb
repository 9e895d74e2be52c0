== a fault
continue
bt
info locals
print from
print $_siginfo.si_signo
print $_siginfo._sifields._sigfault.si_addr
up
info locals
print i
print *accounts[0]
continue
print $_exitcode
print $_exitsignal
info threads
bt

== an assertion @ assert
continue
~ __pthread_kill|raise
bt
~ ^#[0-3]
frame function main
print one
continue
print $_exitsignal

== stepping into a fault
tbreak read_balance
continue
next
next
next
finish
next
next
step
next
bt 1
stepi
kill
info threads
