"""The header lines of `kafka-broker-api-versions`."""

from collections.abc import Iterable

from app.formats.clusters.broker_api_versions import BrokerHeader


def write(headers: Iterable[BrokerHeader]) -> str:
    """Print the headers as the tool does."""
    return "".join([f"{_text(header)}\n" for header in headers])


def _text(header: BrokerHeader) -> str:
    rack = "null" if header.rack is None else header.rack
    fenced = "" if header.fenced is None else f" isFenced: {str(header.fenced).lower()}"
    answer = "(" if header.error is None else f"ERROR: {header.error}"
    return f"{header.host}:{header.port} (id: {header.id} rack: {rack}{fenced}) -> {answer}"
