"""Run a command and print its cost as JSON: ``python -S -E child.py COMMAND…``.

It runs in a small process of its own, because the peak memory that the system reports for a child
is at least that of its parent.
"""

import json
import os
import subprocess
import sys
import time

start = time.perf_counter()
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
output = command.stdout.read()
_, status, usage = os.wait4(command.pid, 0)
seconds = time.perf_counter() - start
command.returncode = os.waitstatus_to_exitcode(status)
if command.returncode:
    sys.exit(f"exit code {command.returncode}")
print(
    json.dumps(
        {
            "seconds": seconds,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1e3,
            "output": output.decode(errors="replace"),
        }
    )
)
