"""End processes together with everything that they started."""

import psutil


def kill_with_descendants(*roots: psutil.Process) -> None:
    """Kill processes and their descendants, and wait until none of them runs.

    A JVM ends its Python workers too, but only once it has noticed the end of its own parent.
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
    psutil.wait_procs(doomed)
