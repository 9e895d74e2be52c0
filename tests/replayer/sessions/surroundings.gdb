== the command line @ one two
show args
tbreak main
continue
print argc
print argv[1]
print argv[0] != 0
print *argv@3
~ .
info line
next
next
print variables > 0
next
next
print folder
~ .
info proc exe
~ .
info auxv
~ .
info proc cmdline
~ .
show environment HOME
pwd
info inferiors
~ .
info files
~ .
info source
~ .
info sharedlibrary
~ .
print environ[0] != 0
print (long)environ != 0
continue
