"""A program that runs one command and prints its seconds by clock and by CPU, its peak memory and its exit code.

The peak memory that Linux reports for a process includes that of the process that started it, so the benchmark itself,
which is large, does not start commands. This program is small: it imports only the standard library.
"""

import json
import os
import sys
import time


def main() -> None:
    """Read a request of JSON from stdin: arguments, folder, and files for stdin and for the output."""
    request = json.loads(sys.stdin.read())
    os.chdir(request["folder"])
    out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    source = os.open(request["stdin"], os.O_RDONLY)
    files = [(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)]
    start = time.perf_counter()
    child = os.posix_spawn(request["args"][0], request["args"], os.environ, file_actions=files)
    _, status, used = os.wait4(child, 0)
    clock = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss
    spent = {"clock": clock, "cpu": used.ru_utime + used.ru_stime, "memory": unit * used.ru_maxrss}
    print(json.dumps({**spent, "code": os.waitstatus_to_exitcode(status)}))


if __name__ == "__main__":
    main()
