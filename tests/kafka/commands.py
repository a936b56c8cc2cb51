"""Kafka's tools as commands of a shell, executed by a JVM that is there already: to start one takes a second of a core.

A command sends its folder and arguments to a port of loopback, and gets the tool's status and output.
"""

import contextlib
import socketserver
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.kafka.jvm import Jvm

COMMAND = r"""#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/PORT
printf '%s\0' $(($# + 2)) MAIN "$PWD" "$@" >&3
read -r -u 3 status printed
head -c "$printed" <&3
cat <&3 >&2
exit "$status"
"""
"""Sends the number of the texts that follow: the tool's main class, the folder, and the arguments."""


@contextmanager
def served(folder: Path, tools: Mapping[str, str], jvm: Jvm) -> Iterator[None]:
    """Write the commands into a new folder; they work until the context ends, one after another.

    Parameters
    ----------
    tools : the main classes by name.
    """

    class Answer(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            main, where, *arguments = (self._text() for _ in range(int(self._text())))
            paths = [str(path) if (path := Path(where, each)).is_file() else each for each in arguments]
            done = jvm.ask("tool", **{"class": main, "arguments": paths})
            printed = done["printed"].encode()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the script was interrupted
                self.wfile.write(f"{done['status']} {len(printed)}\n".encode() + printed + done["errors"].encode())

        def _text(self) -> str:
            read = bytearray()
            while (byte := self.rfile.read(1)) not in {b"\0", b""}:
                read += byte
            return read.decode()

    folder.mkdir()
    with socketserver.TCPServer(("127.0.0.1", 0), Answer) as server:
        for name, main in tools.items():
            script = folder / f"{name}.sh"
            script.write_text(COMMAND.replace("PORT", str(server.server_address[1])).replace("MAIN", main))
            script.chmod(stat.S_IRWXU)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
