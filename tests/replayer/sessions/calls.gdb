== breakpoints and values
break factorial
info breakpoints
continue
bt
info frame
~ rip|rsp|rbp|frame at|Saved|caller|called
info args
info locals
continue
continue
bt
up 2
print n
down
frame
frame function main
info locals
~ .
delete
continue
print $_exitcode
info program
~ .

== finish with values
tbreak factorial
continue
finish
tbreak make_point
continue
finish
tbreak half
continue
finish
print $xmm0.v2_double[0]
tbreak greet
continue
finish
print $
print $$2
tbreak choose
continue
finish
next
info locals
~ numbers

== steps of all kinds
tbreak main
continue
next
next
step
step
step
bt
finish
next
next
next
step
step 2
next 3
info locals
until
until
until
advance nothing
bt
up-silently
info source
~ .
step
step
step
step
continue

== counts
break push if value == 2
ignore 1 0
continue
bt 1
print *list
print *list->next
print list->next->value
delete
break loop
tbreak push
info breakpoints
continue
continue
ignore 1 5
info breakpoints
delete 1
continue
info breakpoints

== commands
break factorial
commands
silent
printf "factorial of %d\n", n
continue
end
break nothing
commands
bt
end
continue
info breakpoints

== until and advance
tbreak loop
continue
next
next
until 55
info locals
~ .
advance 58
next
tbreak nothing
continue
until main
finish
nexti
next

== instructions
tbreak half
continue
x/4i $pc
stepi
x/i $pc
stepi 3
x/i $pc
nexti
nexti 2
disassemble
info registers rip
~ rip
info registers eflags
print $eflags
print $_
print $xmm1
~ .
tbreak *nothing
continue
info symbol $pc
info line
display/i $pc
stepi
stepi
stepi
stepi
stepi
info display

== calling functions
tbreak loop
continue
print factorial(4)
print make_point(1, 2)
print half(3)
call nothing()
print greet("me")
print choose(3)
call factorial(3)
ptype make_point
whatis greet
print sizeof(struct node)
print $_strlen("abc")
next
next
print rounds

== qsort's callback
break compare
continue
bt
up
print *(int*)a
down
print *(const int*)a
print *(const int*)b
finish
~ Run till
delete
next
~ .

== display and examine
tbreak greet
continue
display name
display/x calls
next
next
x/s text
x/8xb text
x/2dw &calls
print text
print &text
print text[1]@3
print/c text
print/x 255
print $_siginfo
~ .
output calls
undisplay 1
next
info display

== setting variables
tbreak loop
continue
set var $mine = 4
print $mine * 2
print rounds
set var calls = 50
~ reweave:
print calls
set language c
show language
show args
info line loop
info address calls
info symbol main
list loop
list
list 1,5
info scope loop
~ \$rsp

== jump and return
tbreak make_point
continue
return
! reweave: no `return` in a replay
jump 40
! reweave: no `jump` in a replay
frame
~ .

== restart
break half
continue
print value
run
print value
start
info breakpoints
kill
info breakpoints

== regular expressions
rbreak ^ma[ik]
continue
info breakpoints
continue
info functions ^fact
info variables ^ratio
info types colour
info line factorial

== wrong commands
tbreak main
continue
print nothing_like_it
break nowhere
frobnicate
x/s 0
print *(int*)0
list 4000
finish
up
down
frame 77
thread 9
continue 0
info breakpoints

== python
break loop
python print([b.location for b in gdb.breakpoints()])
continue
python print(gdb.selected_frame().name(), gdb.selected_frame().older().name())
python print(gdb.execute("bt", to_string=True).count("#"))
python print(gdb.parse_and_eval("rounds") + 1)
python
def stopped(event):
    print("stopped", type(event).__name__, getattr(event, "breakpoints", [])[:1] and event.breakpoints[0].number)
gdb.events.stop.connect(stopped)
gdb.events.exited.connect(lambda event: print("exited", event.exit_code))
end
next
break push
continue
finish
python print(gdb.selected_inferior().num, len(gdb.selected_inferior().threads()), gdb.selected_thread().num)
python print(gdb.lookup_symbol("list")[0].type)
python
class Stop(gdb.Breakpoint):
    def stop(self):
        return int(gdb.parse_and_eval("n")) == 4
end
python Stop("choose")
delete
python gdb.Breakpoint("nothing", temporary=True)
continue
python print(gdb.selected_frame().find_sal().line)
continue

== frames
break factorial if n == 2
continue
bt
bt 2
bt -2
bt full 1
~ No symbol
frame 1
info frame
~ rip|rsp|rbp|frame at|Saved|caller|called
frame level 2
frame apply all print n
~ No symbol
faas print n
~ No symbol
up
down 2
select-frame 1
frame
info locals

== hardware breakpoints
hbreak half
info breakpoints
continue
thbreak greet
continue
tbreak 67
continue
info breakpoints

== machine interface
interpreter-exec mi "-break-insert half"
continue
interpreter-exec mi "-stack-list-frames"
interpreter-exec mi "-stack-list-variables --simple-values"
interpreter-exec mi "-data-evaluate-expression value*2"
interpreter-exec mi "-stack-info-frame"
interpreter-exec mi "-stack-list-arguments 1"
interpreter-exec mi "-stack-info-depth"
interpreter-exec mi "-var-create v * value"
interpreter-exec mi "-var-update *"
interpreter-exec mi "-data-list-register-values x 6"
interpreter-exec mi "-data-read-memory-bytes &calls 4"
interpreter-exec mi "-break-list"
interpreter-exec mi "-break-delete 1"
interpreter-exec mi "-list-thread-groups"
~ .
interpreter-exec mi "-thread-list-ids"
interpreter-exec mi "-symbol-list-lines calls.c"
finish
