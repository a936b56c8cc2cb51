"""An admin client of a running cluster: its properties, and a connection with a timeout.

It connects to the bootstrap servers it is given and to the brokers that they advertise, to nothing else. This module
needs the extra `kafka`.
"""

import logging
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any, TypeVar

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.net.compat import KafkaNetClient

from app.errors.machine import ClusterUnreachable
from app.errors.requests import ConflictingFields

T = TypeVar("T")


class AdminClient(KafkaAdminClient):  # type: ignore[misc] # the client has no types
    """An admin client that also sends messages for which it has no method."""

    def answer(self, request: Any, broker: int) -> Any:
        """The answer of a broker to a message; raises the client's errors."""

        async def send() -> Any:
            return await self._manager.send(request, node_id=broker)

        return self._manager.run(send)


CLIENT_ERRORS = (KafkaError, OSError, RuntimeError, ValueError, TypeError, LookupError, AttributeError)
"""The errors of the client: its own, the system's, and others if it cannot parse an answer."""

_CONNECTS_WITHIN_S = 10.0


def properties(given: Sequence[str], file: Path | None = None) -> Mapping[str, object]:
    """The client's properties from `key=value` texts and from a file of such lines; the texts win.

    Dots in a key are read as underscores, so `security.protocol` is `security_protocol`. In the file blank lines and
    those that begin with `#` or `!` are ignored, and a value is taken literally, without escapes. Values may be
    secrets and are in no message.

    Raises `ConflictingFields` for a text without `=`, an unknown key or an invalid value.
    """
    texts = [(f"--property {number}", text) for number, text in enumerate(given, start=1)]
    if file is not None:
        lines = enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        named = [(f"{file.name} line {number}", line.strip()) for number, line in lines]
        texts = [(where, line) for where, line in named if line and line[0] not in "#!"] + texts
    configured = dict([_property(where, text) for where, text in texts])
    protocol = str(configured.get("security_protocol", ""))
    if protocol.startswith("SASL") and "sasl_mechanism" not in configured:
        raise ConflictingFields(f"security_protocol {protocol} needs sasl_mechanism", path=("property",))
    return MappingProxyType(configured)


@contextmanager
def connected(bootstrap: str, configured: Mapping[str, object], *, timeout_s: float) -> Iterator[AdminClient]:
    """A client of the first server that answers; closed at the end.

    The servers are tried one by one, since the client itself would spend all of its time on one that takes no
    connection.

    Parameters
    ----------
    bootstrap : `host:port`, several with commas between them.
    configured : as `properties` gives them.
    timeout_s : how long the client waits for an answer. All connecting together takes two thirds of it at most.

    Raises `ClusterUnreachable` with a reason for each server, `ConflictingFields` where `bootstrap` is no `host:port`.
    """
    servers = [_server(text.strip()) for text in bootstrap.split(",")]
    # Twice a server, once to see that it is there and once as a client, with some time left to read.
    connects_within_s = min(_CONNECTS_WITHIN_S, timeout_s / len(servers) / 3)
    reasons: list[str] = []
    with _logged_errors() as logged:
        for host, port in servers:
            logged.clear()
            try:
                # The client lets its time go by before it fails. A plain connection fails at once, with the reason.
                socket.create_connection((host, port), connects_within_s).close()
                admin = _admin(host, port, configured, connects_within_s=connects_within_s, timeout_s=timeout_s)
            except CLIENT_ERRORS as failed:
                reasons.append(f"{host}:{port}: {_reason(failed, logged)}")
                continue
            try:
                yield admin
            finally:
                admin.close()
            return
    protocol = configured.get("security_protocol", "PLAINTEXT")
    raise ClusterUnreachable(f"{'; '.join(reasons)} (asked in {protocol})", servers=bootstrap.split(","))


def within(timeout_s: float, work: Callable[[], T]) -> T:
    """The result of `work`, or `ClusterUnreachable` after the timeout.

    The client bounds its waits one by one, not together, and its look-ups of names not at all. So the work is done in
    a thread that may be left behind: the command ends then.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as failed:  # noqa: BLE001 — it is raised again where the outcome is awaited
            outcome.set_exception(failed)

    Thread(target=run, name="rackplan-live", daemon=True).start()
    try:
        return outcome.result(timeout_s)
    except TimeoutError:
        detail = f"it was not read within {timeout_s:g} s; --timeout allows more"
        raise ClusterUnreachable(detail, timeout_s=timeout_s) from None


def one_line(failed: BaseException) -> str:
    """The message of an error on one line; its name if it has none."""
    return " ".join(str(failed).split()) or type(failed).__name__


def _one_of(*known: str) -> Callable[[str], object]:
    def read(text: str) -> str:
        if text.upper() not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return text.upper()

    return read


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


# Without properties that make the client open other connections, as a proxy or a cloud's authentication does.
_PROPERTIES: Mapping[str, Callable[[str], object]] = {
    "client_id": str,
    "security_protocol": _one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    "ssl_cafile": str,
    "ssl_certfile": str,
    "ssl_check_hostname": _boolean,
    "ssl_crlfile": str,
    "ssl_keyfile": str,
    "ssl_password": str,
    "sasl_mechanism": _one_of("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"),
    "sasl_plain_username": str,
    "sasl_plain_password": str,
    "sasl_kerberos_domain_name": str,
    "sasl_kerberos_service_name": str,
}


def _property(where: str, text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConflictingFields(f"{where} has no `=`; it has to be key=value", path=("property",))
    key = key.strip().replace(".", "_")
    if key not in _PROPERTIES:
        raise ConflictingFields(
            f"{where}: there is no property {key}; there are {', '.join(_PROPERTIES)}", path=("property", key)
        )
    try:
        return key, _PROPERTIES[key](value.strip())
    except ValueError as expected:
        raise ConflictingFields(f"{where}: {key} has to be {expected}", path=("property", key)) from None


def _server(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 2**16):
        raise ConflictingFields(f"--bootstrap has {text or 'nothing'}; it has to be host:port", path=("bootstrap",))
    return host, int(port)


def _admin(
    host: str, port: int, configured: Mapping[str, object], *, connects_within_s: float, timeout_s: float
) -> AdminClient:
    opened: list[KafkaNetClient] = []

    def network(**configuration: Any) -> KafkaNetClient:
        opened.append(KafkaNetClient(**configuration))
        return opened[-1]

    try:
        return AdminClient(
            **{"client_id": "rackplan", **configured},
            bootstrap_servers=[f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
            bootstrap_timeout_ms=int(connects_within_s * 1000),
            request_timeout_ms=int(timeout_s * 1000),
            # Once a server: it would go on with a wrong password too, until an account is locked.
            reconnect_backoff_ms=int(connects_within_s * 2000),
            kafka_client=network,
        )
    except BaseException:
        # A client that could not be made leaves its thread and its sockets behind.
        for client in opened:
            client.close()
        raise


@contextmanager
def _logged_errors() -> Iterator[list[BaseException]]:
    """The errors that the client only logs, oldest first."""
    logger = logging.getLogger("kafka")
    # For good, since its last lines may come from a thread that was left behind. Below a warning it logs the client's
    # properties, passwords included; and one of the warnings is to be printed, not all.
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    listener = _Errors(logging.WARNING)
    logger.addHandler(listener)
    try:
        yield listener.errors
    finally:
        logger.removeHandler(listener)


class _Errors(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        self.errors.extend([argument for argument in arguments if isinstance(argument, Exception)])


def _reason(failed: BaseException, logged: Sequence[BaseException]) -> str:
    """The reason of a failure; of a time-out, the last other error that the client logged."""
    if isinstance(failed, KafkaError) and failed.retriable:
        earlier = [error for error in logged if type(error) is not type(failed)]
        return one_line(earlier[-1] if earlier else failed)
    return one_line(failed)
