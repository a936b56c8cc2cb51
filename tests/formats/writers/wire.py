"""Numbers and strings of Kafka's requests as bytes."""


def int16(number: int) -> bytes:
    return number.to_bytes(2, "big", signed=True)


def int32(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def string(text: str | None) -> bytes:
    """A string, or null."""
    content = b"" if text is None else text.encode()
    return int16(-1 if text is None else len(content)) + content
