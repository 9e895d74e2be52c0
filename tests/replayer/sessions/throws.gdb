== catch throw
catch throw
info breakpoints
continue
bt
~ __cxa
up
frame
delete
continue

== catch catch
catch catch
catch rethrow
continue
bt
~ __cxa
continue
~ .
bt
~ __cxa
continue
~ .
bt
~ __cxa
print $_exception
continue

== catch by kind
catch throw std::runtime_error
continue
print $_exception
continue
info breakpoints

== names and overloads
break shop::sum
info breakpoints
continue
finish
continue
finish
delete
break shop::larger<int>
continue
info args
bt
tbreak shop::Cake::price
run
print *this
print cost_
ptype this
info vtbl sweet
finish

== step through exceptions
tbreak main
continue
next
next
next
next
next
next
next
print caught
next
next
step
finish
next
print price

== containers
tbreak main
continue
advance 60
print numbers
print ages
print numbers.size()
print numbers[1]
print *sweet
ptype sweet
print ages["ann"]
~ .
info locals
~ error
step
step
bt
finish
next

== finish and until around exceptions
tbreak shop::fail if depth == 0
continue
bt
until
finish
info locals
~ .

== regular expressions
rbreak ^shop::sum
continue
continue
info functions shop::
~ static|non-debugging
