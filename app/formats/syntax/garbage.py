"""Reading long texts without Python's collector of garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Import modules, or plan on what files describe, without collections: what is created stays until the end.

    Of a large cluster, collections take a fifth of the time that reading its texts does, and three quarters of the time
    that its JSON does. If another thread ends first, what is left is read with collections.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
