"""`rackplan` for scripts of a shell: each command is forked from a process that has imported it (`tests.forked`).

A command of a script is a small program that sends its arguments, environment, folder and files to this process, and
ends as the command ends.
"""

import atexit
import json
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Thread

from tests import forked

_ENDS_WITHIN_S = 120.0
_PROGRAM = """#!{python} -IS
import json, os, socket, sys
files = [os.path.join("/proc", str(os.getpid()), "fd", str(number)) for number in range(3)]
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = {{"arguments": sys.argv[1:], "environment": dict(os.environ), "cwd": os.getcwd(), "files": files}}
    server.sendall(json.dumps(request).encode() + b"\\n")
    sys.exit(int(server.makefile().readline()))
"""


_OPEN = ExitStack()
atexit.register(_OPEN.close)


class _Server(ThreadingUnixStreamServer):
    daemon_threads = True


class _Handler(StreamRequestHandler):
    def handle(self) -> None:
        request = json.loads(self.rfile.readline())
        given, out, err = map(Path, request["files"])
        command = forked.start(
            arguments=["rackplan", *request["arguments"]],
            environment=request["environment"],
            given=given,
            out=out,
            err=err,
            cwd=Path(request["cwd"]),
        )
        self.wfile.write(b"%d\n" % command.wait(_ENDS_WITHIN_S))


@contextmanager
def _serving() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rackplan-shell-") as folder:
        address, program = Path(folder, "socket"), Path(folder, "rackplan")
        with _Server(str(address), _Handler) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            program.write_text(_PROGRAM.format(python=sys.executable, address=str(address)), encoding="utf-8")
            program.chmod(stat.S_IRWXU)
            yield program


@cache
def rackplan() -> Path:
    """The program; it can be started until this process ends."""
    return _OPEN.enter_context(_serving())
