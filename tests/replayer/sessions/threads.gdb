== threads at a breakpoint
break add
continue
print amount
info threads
~ THREAD|LWP|Target Id
bt 1
thread
~ .
next
next
print counter
delete
finish
~ Run till
continue

== thread storage
tbreak work
continue
print mine
print name
next
next
next
print mine
print name
print &mine == &mine
thread 1
~ .
print mine
print name
ptype mine

== the main thread alone
tbreak main
continue
next
next
next
next
next
next
info locals
~ threads|i =
tbreak add
thread apply 1 bt 0
~ .
info threads 99
print $_thread
print $_gthread
print $_inferior
thread find nothing
thread name me
show scheduler-locking

== steps over creation
tbreak main
continue
next
next
next
next
next
next
next
next
next
print sum
continue

== last lock
tbreak main
continue
break add if amount == 1
continue
next
next
next
next
next
delete
continue

== a thread's own breakpoint
tbreak work
continue
print $_thread
break add thread 1
continue
print $_thread
bt
print counter
continue

== locks that do not say who takes them
tbreak main
continue
reweave last-lock shelf
!held only in .reweave replay --backward
!backward shelf is not a mutex \(pthread_rwlock_t\)
reweave last-lock tickets
!held only in .reweave replay --backward
!backward tickets is not a mutex \(sem_t\)
reweave last-lock lock
!held only in .reweave replay --backward
!backward lock was not taken before here
