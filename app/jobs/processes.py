"""End processes together with everything that they started."""

import time

import psutil

_LOOKS_EVERY_S = 0.01


def kill_with_descendants(*roots: psutil.Process) -> None:
    """Kill processes and their descendants, and wait until none of them runs.

    A JVM ends its Python workers too, but only once it has noticed the end of its own parent. Descendants whose parent
    has ended are reaped by the first process of the machine or container, which may take seconds or never do it: that
    is not waited for.
    """
    doomed: list[psutil.Process] = []
    for root in roots:
        try:
            doomed += [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    for process in doomed:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    while any(map(runs, doomed)):
        time.sleep(_LOOKS_EVERY_S)


def runs(process: psutil.Process) -> bool:
    """Whether a process runs: one that has ended and that its parent has not reaped yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
