"""Numbers and strings of Kafka's requests as bytes."""

from app.core.model import INT32_MAX
from app.formats.syntax.wire import HIGHEST_PORT

LONGEST_STRING_BYTES = 2**15 - 1


def int16(number: int) -> bytes:
    """A number as two bytes; a ValueError if they cannot hold it."""
    if not -(2**15) <= number < 2**15:
        raise ValueError(f"an int16 holds -32768 to 32767; {number} given")
    return number.to_bytes(2, "big", signed=True)


def int32(number: int) -> bytes:
    """A number as four bytes; a ValueError if they cannot hold it."""
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"an int32 holds -2147483648 to 2147483647; {number} given")
    return number.to_bytes(4, "big", signed=True)


def broker_id(number: int) -> bytes:
    """A broker id; a ValueError if Kafka has no such id."""
    if not 0 <= number <= INT32_MAX:
        raise ValueError(f"broker ids are 0 to {INT32_MAX}; {number} given")
    return int32(number)


def port(number: int) -> bytes:
    """A port; a ValueError if there is no such port."""
    if not 0 <= number <= HIGHEST_PORT:
        raise ValueError(f"ports are 0 to {HIGHEST_PORT}; {number} given")
    return int32(number)


def string(text: str | None) -> bytes:
    """A string, or null; a ValueError if its UTF-8 is longer than an int16 can say."""
    if text is None:
        return int16(-1)
    content = text.encode("utf-8")
    if len(content) > LONGEST_STRING_BYTES:
        raise ValueError(f"a string has at most {LONGEST_STRING_BYTES} bytes; {len(content)} given")
    return int16(len(content)) + content
