"""The process that draws charts: a script of its own, which `chart_process.py` starts and which needs nothing of `app`.

Requests and answers follow each other on standard input and output, each with its length first (4 bytes, big-endian). A
request is JSON; an answer begins with a byte, 1 if it is a drawing and 0 if it is the reason for a failure.
"""

import json
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

import vl_convert

_DRAW: Mapping[str, Callable[[Any], str | bytes]] = {
    "svg": lambda spec: vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]),
    "png": lambda spec: vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[]),
    "script": vl_convert.javascript_bundle,
}


def main() -> None:
    """Answer requests until standard input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(4)) == 4:
        (length,) = struct.unpack(">I", head)
        kind, content = json.loads(requests.read(length))
        try:
            drawing = _DRAW[kind](content)
            answer = b"\1" + (drawing.encode() if isinstance(drawing, str) else drawing)
        except ValueError as failure:
            answer = b"\0" + str(failure).encode()
        answers.write(struct.pack(">I", len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    main()
