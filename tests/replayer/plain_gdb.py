"""Behaviour of gdb on this machine without Reweave."""
import subprocess


def hardware_watchpoints_work(program, function, variable):
    """True if a watchpoint set in `function` reports a change of `variable`. In some virtual machines none does."""
    commands = [f"break {function}", "run", f"watch {variable}", "continue"]
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(["gdb", "-nx", "-batch", *words, program], stdin=subprocess.DEVNULL, text=True, capture_output=True,
                          timeout=600, check=False)
    return "Hardware watchpoint 2" in done.stdout and "Old value" in done.stdout
