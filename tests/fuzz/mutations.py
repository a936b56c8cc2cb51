"""Changes of inputs at random: of bytes, of lines and words of a text, of the values of a JSON document."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

_NUMBERS = (
    -1,
    0,
    1,
    2,
    3,
    127,
    255,
    32_767,
    65_536,
    2**31 - 1,
    2**31,
    -(2**31),
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
)
_FLOATS = (0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
_WORDS = (
    *("", " ", "a", "A", "0", "-", "none", "null", "any", "topic", "orders", "*", "__proto__", "..", "%s", "{0}", "\\"),
    *("\x00", "\n", "\u2028", "\ud800", "\U0001f600", "\u202e", "a" * 300, "é", "1e5", "1_000", "٣", "true", "NaN"),
)
TOKENS = (
    *(b"\n", b"\r\n", b"\t", b" ", b",", b":", b";", b"[", b"]", b"{", b"}", b'"', b"'", b"\\", b"-", b"0", b"-1"),
    *(
        b"99999999999999999999",
        b"2147483648",
        b"\x00",
        b"\xff",
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\xed\xa0\x80",
    ),
    *(b"Topic: ", b"Partition: ", b"Replicas: ", b"Isr: ", b"Leader: ", b"(id: ", b" rack: ", b"null", b"N/A", b"none"),
    *(
        b"GROUP ",
        b"CONSUMER-ID ",
        b"&a ",
        b"*a",
        b"<<: ",
        b"!!",
        b"---\n",
        b"- ",
        b"? ",
        b"apiVersion: v1\n",
        b"Infinity",
    ),
    *(
        b'"brokers":',
        b'"version":1,',
        b'"partitions":[',
        b"1e400",
        b"\xe2\x80\xa8",
        b"\x1b[31m",
        b"\xc2\xa0",
        b"\x1f\x8b",
    ),
)


def of_bytes(content: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    """The content after one to six changes."""
    changed = bytearray(content)
    for _ in range(draw.randint(1, 6)):
        _change(changed, others, draw)
    return bytes(changed)


def of_json(content: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    """The document after one to five changes of its values; of its bytes, now and then, and if it is no JSON."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return of_bytes(content, others, draw)
    if draw.random() < 0.05:
        return of_bytes(content, others, draw)
    for _ in range(draw.randint(1, 5)):
        document = _changed(document, draw)
    return json.dumps(document).encode()


def _change(changed: bytearray, others: Sequence[bytes], draw: Random) -> None:
    start = draw.randint(0, len(changed))
    stop = min(len(changed), start + int(draw.expovariate(1 / 12)))
    match draw.randrange(8):
        case 0:
            del changed[start:stop]
        case 1:
            changed[start:start] = changed[start:stop] * draw.choice((1, 2, 30))
        case 2:
            changed[start:start] = draw.choice(TOKENS)
        case 3:
            changed[start:stop] = draw.choice(TOKENS)
        case 4 if start < len(changed):
            changed[start] = draw.randrange(256)
        case 5 if start < len(changed):
            changed[start] ^= 1 << draw.randrange(8)
        case 6 if others:
            other = draw.choice(others)
            at = draw.randint(0, len(other))
            changed[start:] = other[at : at + 4_000]
        case _:
            rows = bytes(changed).split(b"\n")
            rows.insert(draw.randrange(len(rows) + 1), rows.pop(draw.randrange(len(rows))))
            changed[:] = b"\n".join(rows)


def _changed(document: Any, draw: Random) -> Any:
    """The document with one value replaced, removed, repeated or put elsewhere."""
    places = list(_places(document))
    if not places:
        return _value(draw)
    container, key = draw.choice(places)
    match draw.randrange(7):
        case 0 | 1:
            container[key] = _value(draw)
        case 2:
            del container[key]
        case 3 if isinstance(container, list):
            container.insert(key, container[key])
        case 4:
            other, its = draw.choice(places)
            container[key] = json.loads(json.dumps(other[its]))
        case 5 if isinstance(container, dict):
            container[draw.choice(_WORDS)] = container.pop(key)
        case _:
            value = container[key]
            if isinstance(value, bool | str | None):
                container[key] = draw.choice(_WORDS)
            elif isinstance(value, int | float):
                container[key] = draw.choice((value + 1, value - 1, -value, value * 1000, float(value)))
            else:
                container[key] = [value, value]
    return document


def _places(document: Any) -> Any:
    if isinstance(document, dict | list):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _places(document[key])


def _value(draw: Random) -> Any:
    return draw.choice(
        (
            None,
            draw.random() < 0.5,
            draw.choice(_NUMBERS),
            draw.choice(_FLOATS),
            draw.choice(_WORDS),
            [],
            {},
            [draw.choice(_NUMBERS)] * draw.choice((1, 3)),
            {draw.choice(_WORDS): draw.choice(_NUMBERS)},
        )
    )
