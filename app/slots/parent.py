"""Tie a process to its parent, so that the system kills it when the parent ends, however it ends; and name it.

Elsewhere than on Linux a process of a slot ends when it reads that its connection is closed.
"""

import ctypes
import signal
import sys

SERVER_NAME = "rackplan-slots"
"""The name of the process from which slots are forked, and of the slots."""
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_NAME = 15  # PR_SET_NAME


def tie_to_parent() -> None:
    """Let the system kill this process when the thread that started it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def name_process(name: str) -> None:
    """Name this process as `ps -o comm` and `top` show it: at most 15 characters."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_NAME, name.encode())
