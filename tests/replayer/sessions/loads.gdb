== a pending breakpoint
set breakpoint pending on
break plugin_twice
info breakpoints
continue
bt
next
print plugin_calls
print plugin_mine
!backward Cannot find thread-local storage
!held not yet allocated storage
next
next
print plugin_mine
finish
~ .
info sharedlibrary
~ .
delete
continue

== catch a library
catch load plugin
catch unload plugin
info breakpoints
continue
~ from
info sharedlibrary plugin
~ From
continue
~ from
continue

== steps into a library
tbreak main
continue
next
next
next
step
step
step
step
step
next
print result
next
next

== stop on library events
set stop-on-solib-events 1
continue
continue
~ libreweave|^/lib|Inferior loaded
set stop-on-solib-events 0
tbreak main
continue
