== the parent is followed
show follow-fork-mode
tbreak main
continue
next
next
next
next
print first
next
next
next
next
print second
info inferiors
~ .
continue

== catch forks
catch fork
!backward use `break fork`
catch vfork
!backward use `break vfork`
info breakpoints
~ .
continue
!backward .
bt
~ .
continue
~ .
continue
~ .

== breakpoints in what is forked
break wait_for
continue
finish
~ Run till
continue
print generation
delete
continue

== to follow the child
set follow-fork-mode child
tbreak child
continue
! .

== catch exec
catch exec
!backward use `break execve`
info breakpoints
~ .
~ .
continue
~ .
