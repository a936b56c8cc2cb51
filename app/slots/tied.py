"""Importing this module ties the process to its parent: the system kills it when the parent ends, however it ends.

The server process from which slots are forked imports it first, so that no stop of the service leaves a process behind.
Elsewhere than on Linux a process ends when it reads that its connection is closed.
"""

import ctypes
import signal
import sys

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def tie_to_parent() -> None:
    """Let the system kill this process when the thread that started it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


tie_to_parent()
