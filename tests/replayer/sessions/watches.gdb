== a global
watch global
info watchpoints
continue
continue
continue
info watchpoints
continue

== a local that goes out of scope
break change
continue
watch local
continue
~ Old value
continue
continue
continue
bt 1
delete
continue

== heap and locations
tbreak main
continue
advance 33
next
next
watch -l buffer[3]
continue
continue
continue
info watchpoints
delete
continue

== of a structure
watch both.second
watch both.third if both.third > 5
continue
continue
print both
print/x both
ptype both
delete
continue

== of an element, with a condition
watch table[2]
continue
print table
watch table[3] if table[3] == 9
continue
print table
bt
delete
continue

== reads
rwatch other
! .
continue
! .
bt 1
! .
continue
! .

== both
awatch other
! .
continue
! .
continue
! .
continue
! .

== software
set can-use-hw-watchpoints 0
!backward need no hardware
tbreak change
continue
watch global
!backward atchpoint 2: global
continue
!backward atchpoint 2: global\n\nOld value = 0\nNew value = 9
next
delete
watch local
!backward atchpoint 3: local
continue
!backward atchpoint 3
info locals

== registers
tbreak fill
continue
watch $rax
continue
~ .
delete
continue

== through a pointer
tbreak fill
continue
watch *to
continue
continue
continue
~ .

== an expression
tbreak main
continue
next
watch sum + global
continue
continue
continue
bt 1
delete
tbreak fill
continue
print i
~ .
watch -location *to
continue
disable
info breakpoints
tbreak 43
continue

== a watchpoint with commands
watch global
commands
silent
print global
continue
end
continue

== ignore, tbreak, disable
watch global
ignore 1 1
continue
print global
disable 1
tbreak read_it
continue
enable 1
info breakpoints
continue
