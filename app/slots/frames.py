"""Frames on a socket between two processes of a service: a kind of one byte, the length in eight, and the content.

Contents are bytes or JSON: nothing is unpickled.
"""

import asyncio
import struct

REQUEST, BODY, START, CHUNK, END = b"R", b"B", b"S", b"C", b"E"
"""A request and its body; the head of a response, a piece of its body, and what is noted about it."""
_HEADER = struct.Struct("!cQ")


def write(writer: asyncio.StreamWriter, kind: bytes, content: bytes) -> None:
    """Write a frame; the caller drains."""
    writer.write(_HEADER.pack(kind, len(content)))
    writer.write(content)


async def read(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read a frame: its kind and content. Raises `IncompleteReadError` if the other process has ended."""
    kind, length = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    return kind, await reader.readexactly(length)
