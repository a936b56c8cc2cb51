"""Tie a process to its parent: the system kills it when the parent ends, however it ends.

Elsewhere than on Linux a process of a slot ends when it reads that its connection is closed.
"""

import ctypes
import signal
import sys

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def tie_to_parent() -> None:
    """Let the system kill this process when the thread that started it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
