"""An address whose machine changes, as a host name's does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread


class Forwarder:
    """Forwards connections to a port of this machine; without one they are closed."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._target: int | None = None
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        Thread(target=self._accept, daemon=True).start()

    def forward_to(self, target: int | None) -> None:
        """Forward new connections to another port; those that are open are closed."""
        with self._lock:
            self._target, closed, self._open = target, self._open, set()
        for each in closed:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close everything."""
        self.forward_to(None)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if self._target is None:
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server:
                with self._lock:
                    self._open |= {client, server}
                back = Thread(target=_copy, args=(server, client), daemon=True)
                back.start()
                _copy(client, server)
                back.join()
                with self._lock:
                    self._open -= {client, server}


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def forwarding() -> Iterator[Forwarder]:
    """A forwarder, until the context ends."""
    forwarder = Forwarder()
    try:
        yield forwarder
    finally:
        forwarder.close()
