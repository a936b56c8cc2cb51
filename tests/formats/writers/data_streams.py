"""Text as Java's `DataOutputStream` writes it."""

from app.errors.kafka import KafkaError
from tests.kafka_refusals import NotSerializable

_LONGEST_TEXT_BYTES = 0xFFFF


def text(content: str, what: str, kafka: KafkaError) -> bytes:
    """`writeUTF`.

    Raises
    ------
    NotSerializable
        It takes more than 65535 bytes; Kafka answers that with the exception given.
    """
    if content.isascii() and "\0" not in content:
        written = content.encode("ascii")
    else:
        units = content.encode("utf-16-be", "surrogatepass")
        written = b"".join([_bytes_of(units[place] << 8 | units[place + 1]) for place in range(0, len(units), 2)])
    if len(written) > _LONGEST_TEXT_BYTES:
        detail = f"{what} has at most {_LONGEST_TEXT_BYTES} bytes; {len(written)} given"
        raise NotSerializable(detail, kafka=kafka, bytes=len(written))
    return len(written).to_bytes(2, "big") + written


def _bytes_of(unit: int) -> bytes:
    if 0 < unit < 0x80:
        return bytes([unit])
    if unit < 0x800:
        return bytes([0xC0 | unit >> 6, 0x80 | unit & 0x3F])
    return bytes([0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F])
