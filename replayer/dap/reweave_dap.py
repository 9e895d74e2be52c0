"""Entry point of `reweave dap`: the Debug Adapter Protocol on standard input and output (replayer/dap_command.cc).

protocol.py frames messages; adapter.py has the requests; motion.py moves the program; breakpoints.py, inspection.py and
memory.py do what their names say; gdb_process.py drives gdb; mi.py reads gdb's records.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from adapter import Adapter  # noqa: E402
from protocol import Client  # noqa: E402


def main():
    Adapter(os.environ["REWEAVE_DAP_PROGRAM"], sys.stdin.buffer, Client(sys.stdout.buffer)).serve()
    os._exit(0)  # a thread still waits for the client's next request, and the interpreter would wait for that thread


main()
