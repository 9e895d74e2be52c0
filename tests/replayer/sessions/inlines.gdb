== inlined functions
break square
info breakpoints
continue
bt
info frame
~ rip|rsp|rbp|frame at|Saved|caller|called
info args
info locals
up
finish
~ Run till
continue
delete
finish
~ Run till
step
step
step
step
step
step

== a tail call
break outer if value == 5
continue
bt
finish
tbreak count
continue
next
next
next
info locals
tbreak 34
continue
print total
continue

== a loop
tbreak count
continue
watch sum
continue
~ .
delete
finish
stepi
info registers rip
~ .
next
next
~ main=
