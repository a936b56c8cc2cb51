"""The header lines of `kafka-broker-api-versions`."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.model import Broker


@dataclass(frozen=True, slots=True)
class BrokerHeader:
    """A broker as a tool prints it: `fenced` is None if the tool does not say it, `error` if it answered."""

    id: int
    host: str
    port: int
    rack: str | None = None
    fenced: bool | None = None
    error: str | None = None

    @property
    def broker(self) -> Broker:
        """The broker of a cluster."""
        return Broker(self.id, self.rack, fenced=self.fenced is True)


def write(headers: Iterable[BrokerHeader]) -> str:
    """Print the headers as the tool does."""
    return "".join([f"{_text(header)}\n" for header in headers])


def _text(header: BrokerHeader) -> str:
    rack = "null" if header.rack is None else header.rack
    fenced = "" if header.fenced is None else f" isFenced: {str(header.fenced).lower()}"
    answer = "(" if header.error is None else f"ERROR: {header.error}"
    return f"{header.host}:{header.port} (id: {header.id} rack: {rack}{fenced}) -> {answer}"


def write_nodes(headers: Iterable[BrokerHeader]) -> str:
    """Print the brokers as Java's `describeCluster().nodes()` does, which has no errors."""
    return f"Nodes: [{', '.join([_text(header).partition(' -> ')[0] for header in headers])}]\n"
