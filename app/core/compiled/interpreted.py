"""Little work done by the source of a loop, in Python: numba takes a third of a second to import.

The source means the same as the machine code, and all loops and subroutines that it calls are their sources, too.
"""

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import numpy as np

from app.core.compiled.loops import Function, Loop, Subroutine

LARGEST = 20_000
"""Steps that this process takes by sources before it loads loops; a step takes 1 to 5 µs."""


class _Steps:
    """The steps that this process has taken by sources."""

    taken = 0


def of_size(loop: Function, steps: int) -> Function:
    """The loop, or its source while numba is not imported and little work has been done so.

    Parameters
    ----------
    steps : about how often the innermost statement runs.
    """
    if "numba" in sys.modules or _Steps.taken + steps > LARGEST:
        return loop
    _Steps.taken += steps
    return source_of(loop)


def source_of(loop: Function) -> Function:
    """The source of a loop as a function; integers of fixed width overflow silently, as in machine code.

    Elements of arrays are read and written through `memoryview`, which takes half as long as through numpy and gives
    Python's integers: all arithmetic that has to overflow is of values that the source converts itself.
    """
    source = _plain(cast("Any", loop))

    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return source(*map(_elements, arguments))

    return cast("Function", run)


@functools.cache
def _plain(function: Any) -> Callable[..., Any]:
    """The source of a loop or subroutine, which calls the sources of others without their wrappers."""
    source: FunctionType = function.py_func
    code, names = source.__code__, source.__globals__
    called = {name: _plain(each) for name in code.co_names if isinstance(each := names.get(name), Loop | Subroutine)}
    return FunctionType(code, names | called, source.__name__) if called else source


def _elements(argument: Any) -> Any:
    return argument.data if isinstance(argument, np.ndarray) and argument.size else argument
