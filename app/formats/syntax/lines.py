"""Decoding, numbered lines, numbers, topic names and rejections, for every reader of a Kafka tool's text.

The tools print lines that are no part of their answer, and they are often pasted along: log lines (with a timestamp, in
brackets or not), warnings, stack traces, output of the JVM, SLF4J, Log4j, start scripts and kubectl, further lines of
a command, and the fences of Markdown. Readers skip those and blank lines; every other line must be one that they know.
"""

import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import TypeVar

from app.core.model import INT32_MAX
from app.errors import FieldPath, Json
from app.errors.requests import MalformedText


def alternatives(file: Traversable, **parts: str) -> list[str]:
    """The patterns of a file, one a line; `parts` stand for their names in angle brackets."""
    text = file.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"<{name}>", part)
    return [line for line in text.splitlines() if not line.startswith("# ")]


LOG_LINE = re.compile("|".join(alternatives(files(__package__) / "log_lines.txt")))
"""A line that is printed beside a tool's answer. Source: `kafka-run-class.sh`, the tools' Log4j configuration."""
MAX_DECOMPRESSED_BYTES = 64 * 2**20
"""Upper limit on the bytes of compressed uploads after decompression."""
_GZIP = b"\x1f\x8b"
_UTF16_LE = re.compile(rb"(?:[\t\n\r -~]\x00){8}")
"""The start of a text of Windows without a byte order mark."""
_NUMBERS = re.compile(r"[0-9]{1,10}(?:,[0-9]{1,10})*")
_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
# 22 digits of 6 bits are 4 bits more than 16 bytes; those are 0 in the last digit.
_TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")
_SHOWN_CHARACTERS = 80
Id = TypeVar("Id", int, str)


def decode(content: bytes, name: str, *, max_bytes: int = MAX_DECOMPRESSED_BYTES, errors: str = "strict") -> str:
    """An uploaded text's bytes as text: UTF-8, or UTF-16 of Windows or after a byte order mark, perhaps
    compressed by gzip.

    A byte order mark at the start is dropped.

    Parameters
    ----------
    name : the name of the upload, for the rejection: `topics`, `brokers` …
    max_bytes : upper limit on the decompressed bytes.
    errors : as of `bytes.decode`. `surrogateescape` leaves bytes of another encoding to the reader of their line.

    Raises
    ------
    MalformedText
        The bytes are none of these, or too many; names the line, the byte offset and the upload.
    """
    if content.startswith(_GZIP):
        content = _decompressed(content, name, max_bytes)
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    encoding = "utf-16-le" if _UTF16_LE.match(content) else encoding
    try:
        return content.decode(encoding, errors).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        actual = f"byte 0x{content[error.start]:02x} at offset {error.start} of {name}"
        expected = f"text in {encoding.upper()}"
        raise rejection(line, expected=expected, actual=actual, path=(name,), byte=error.start) from None


def _decompressed(content: bytes, name: str, max_bytes: int) -> bytes:
    try:
        with GzipFile(fileobj=BytesIO(content)) as file:
            decompressed = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise rejection(None, expected="a whole gzip file", actual=f"{name}: {error}", path=(name,)) from None
    if len(decompressed) > max_bytes:
        expected = f"at most {max_bytes} bytes after decompression"
        raise rejection(None, expected=expected, actual=f"more in {name}", path=(name,), limit=max_bytes)
    return decompressed


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, each with its number from 1 and without its end (`\\n` or `\\r\\n`)."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line and says_something(line):  # parts of a long text are mostly empty lines
            yield number, line.removesuffix("\r")


def says_something(line: str) -> bool:
    """Whether a line is neither blank nor printed beside a tool's answer."""
    # Most lines of long texts are rows of topics; the test for one takes a tenth of the time.
    return line.startswith("\tTopic: ") or bool(line and not line.isspace() and not LOG_LINE.match(line))


def last_line(text: str) -> int:
    """The number of the last line that is not blank, or 1."""
    return text.rstrip().count("\n") + 1


def rejection(line: int | None, *, expected: str, actual: str, path: FieldPath = (), **context: Json) -> MalformedText:
    """The failure with the expected and the actual text, in its detail and its context."""
    return MalformedText(f"expected {expected}, found {actual}", line=line, expected=expected, path=path, **context)


def shown(text: str) -> str:
    """The beginning of a text as a rejection quotes it."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")


def whole_number(text: str) -> int | None:
    """The number in ASCII digits; None if it is not one, negative or exceeds 32 bits."""
    # Ten digits are enough for 2³¹ − 1, and int() rejects very long texts with an error of its own.
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        return None
    number = int(text)
    return number if number <= INT32_MAX else None


def required_number(line: int, text: str, expected: str = "an id from 0 to 2147483647") -> int:
    """The number, as of `whole_number` and without leading zeros. Raises `MalformedText` for any other text."""
    if (number := whole_number(text)) is None or str(number) != text:
        raise rejection(line, expected=expected, actual=shown(text))
    return number


def whole_numbers(text: str) -> tuple[int, ...] | None:
    """The numbers of a list such as `101,105,108`; empty for an empty text, None if one of them is not a number."""
    if not text:
        return ()
    if not _NUMBERS.fullmatch(text):
        return None
    numbers = tuple(map(int, text.split(",")))
    return numbers if max(numbers) <= INT32_MAX else None


def first_repeated(ids: Iterable[Id]) -> Id | None:
    """The first id that has come before, or None."""
    seen: set[Id] = set()
    for number in ids:
        if number in seen:
            return number
        seen.add(number)
    return None


def is_topic_name(name: str) -> bool:
    """Whether Kafka takes the name: 1–249 of `a-z A-Z 0-9 . _ -`, but neither `.` nor `..`."""
    return name not in (".", "..") and _TOPIC_NAME.fullmatch(name) is not None


def is_topic_id(text: str) -> bool:
    """Whether Kafka prints a topic's id so: 16 bytes in URL-safe base64, 22 characters."""
    return _TOPIC_ID.fullmatch(text) is not None
