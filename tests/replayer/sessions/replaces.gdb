== through exec
tbreak main
continue
next
print turns
break last_turn
continue
~ reweave-core|Error in re-setting
bt
finish
~ Run till
continue
print turns
~ .

== catch exec
catch exec
!backward use `break execve`
continue
!held Catchpoint 1 \(exec'd .*session_replaces\)
!backward .
continue
~ .
