"""One input against a target: its exception, or that it took too long or too much memory."""

import time
import traceback
from dataclasses import dataclass

from tests.conftest import ROOT
from tests.fuzz.targets import Target


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault. Those of one cause have one `key`: the exception and the innermost line of our own."""

    key: str
    text: str


def tried(target: Target, content: bytes) -> Finding | None:
    """Run the target on an input; None if it was read, or rejected, in time."""
    started = time.thread_time()
    try:
        target.run(content)
    except Exception as raised:  # noqa: BLE001 -- any is a fault
        frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if _is_ours(frame.filename)]
        place = f"{frames[-1].filename.removeprefix(f'{ROOT}/')}:{frames[-1].name}" if frames else "?"
        return Finding(f"{type(raised).__name__} in {place}", "".join(traceback.format_exception(raised)))
    seconds = time.thread_time() - started
    if seconds > target.slow_s:
        return Finding("slow", f"{seconds:.2f} s for {len(content)} bytes; the limit is {target.slow_s} s")
    return None


def _is_ours(filename: str) -> bool:
    return filename.startswith(f"{ROOT}/app/")
