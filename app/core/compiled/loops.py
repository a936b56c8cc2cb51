"""Compiled loops: each with the one signature that its annotations declare.

Nothing is compiled or loaded when a module is imported, nor is numba, which takes longer to import than all of the
core. The first call of a loop does it, and so does `building.load_all`.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function for the types that its annotations declare, when it is first called.

    Parameters
    ----------
    function : all its parameters are annotated with a type of `arrays`, with int, float or bool, or with a `NamedTuple`
        of these. It has no default values, formats no text and raises no exception with arguments.
    """
    return cast("Function", Loop(function))


def subroutine(function: Function) -> Function:
    """Compile a function that only loops call, as part of each of them.

    It has no entry for Python, no machine code and no place in the cache of its own, which saves a third of a loop's
    cost. Python that calls it runs its source, as tests do. Parameters as of `compiled`.
    """
    return cast("Function", Subroutine(function))


def inlined(function: Function) -> Function:
    """Copy a few operations into every loop that calls them, whatever their types."""
    return cast("Function", Inlined(function))


class _Lazy(ABC):
    """A function whose dispatcher is made when it is needed. To numba it is that dispatcher wherever it meets it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """numba's dispatcher, made at first use."""
        return self._dispatcher()

    @abstractmethod
    def _dispatcher(self) -> Any: ...

    @property
    def _numba_type_(self) -> Any:
        """The type of this object in a function that numba compiles."""
        return self.dispatcher._numba_type_


class Loop(_Lazy):
    """A loop: stored machine code, which Python calls."""

    def prepare(self) -> None:
        """Load the loop or compile it, if that has not been done."""
        self.dispatcher.prepare()

    # In another loop it is a subroutine: its own intermediate code is not stored.
    _linked = functools.cached_property(lambda self: Subroutine(self.py_func))
    _numba_type_ = property(lambda self: self._linked._numba_type_)

    def _dispatcher(self) -> Any:
        from app.core.compiled.dispatchers import StoredDispatcher  # noqa: PLC0415 — see the module's docstring

        return StoredDispatcher(self.py_func)


class Subroutine(_Lazy):
    """A subroutine: LLVM's intermediate code, linked into the loops that call it."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def _dispatcher(self) -> Any:
        from app.core.compiled.dispatchers import LinkedDispatcher  # noqa: PLC0415 — see the module's docstring

        return LinkedDispatcher(self.py_func)


class Inlined(_Lazy):
    """A function that numba copies into its callers."""

    targetoptions = MappingProxyType({"inline": "always"})
    """numba reads these before it asks for the type."""

    def _dispatcher(self) -> Any:
        from numba import njit  # noqa: PLC0415 — see the module's docstring

        return njit(nogil=True, inline="always")(self.py_func)
