"""What the two clients share: every operation is written once, as a generator of steps.

A step is what an operation needs of the network or the clock. `Client` takes the steps of an operation one after
another, `AsyncClient` awaits them. The operation itself does neither, and gets the outcome of each step back.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeAlias,
    get_args,
    get_type_hints,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar


class Sync:
    """The kind of `Client`, and of what it returns."""


class Async:
    """The kind of `AsyncClient`, and of what it returns."""


P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
if TYPE_CHECKING:
    K = TypeVar("K", bound=Sync | Async, default=Sync)  # `Plan` is the plan of a `Client`
else:
    K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Request:
    """A step: one HTTP request. Its outcome is the response, read to its end unless it `is_stream`."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    fields: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    is_stream: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """A step: do nothing for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Line:
    """A step: the next line of a response that is a stream; None at its end."""

    response: Any


@dataclass(frozen=True, slots=True)
class Item(Generic[T_co]):
    """A step: one item for the caller of an operation that iterates."""

    value: T_co


Step: TypeAlias = Request | Pause | Line
Flow: TypeAlias = Generator[Step, Any, T]
Items: TypeAlias = Generator[Step | Item[T], Any, None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How often requests are repeated, and how long to wait in between, in seconds."""

    retries: int = 4
    first_pause_s: float = 0.25
    longest_pause_s: float = 60.0


class Session(Protocol):
    """What runs operations: a client."""

    settings: Settings

    def run(self, flow: Flow[Any]) -> Any:
        """The result of an operation, or an awaitable of it."""

    def iterate(self, items: Items[Any]) -> Any:
        """The items of an operation, as an iterator or an asynchronous one."""


class Bound(Generic[K]):
    """Something with operations: a client, or a document that a client returned."""

    _client: Session


class operation(Generic[P, T]):  # noqa: N801 -- used as a decorator
    """A method that returns `T` where it belongs to a `Client`, and an awaitable of `T` where to an `AsyncClient`."""

    flow: Callable[Concatenate[Any, P], Flow[Any]]
    """The operation itself, for others that it is a part of."""

    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        _named_as(self, flow)

    __signature__ = property(lambda self: _signature(self.flow))

    def __call__(self, owner: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call it as a function of a class: `Client.get_plan(client, "…")`."""
        return self.__get__(owner, type(owner))(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: Any) -> operation[P, T]: ...
    @overload
    def __get__(self, instance: Bound[Sync], owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Bound[Async], owner: Any) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else _method(self, instance, instance._client.run)


class iteration(Generic[P, T]):  # noqa: N801 -- used as a decorator
    """A method that returns an iterator where it belongs to a `Client`, and an asynchronous one where to an other."""

    flow: Callable[Concatenate[Any, P], Items[Any]]

    def __init__(self, flow: Callable[Concatenate[Any, P], Items[T]]) -> None:
        self.flow = flow
        _named_as(self, flow)

    __signature__ = property(lambda self: _signature(self.flow))

    def __call__(self, owner: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call it as a function of a class: `Client.get_plan(client, "…")`."""
        return self.__get__(owner, type(owner))(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: Any) -> iteration[P, T]: ...
    @overload
    def __get__(self, instance: Bound[Sync], owner: Any) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, instance: Bound[Async], owner: Any) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else _method(self, instance, instance._client.iterate)


def _method(described: Any, instance: object, run: Callable[[Any], Any]) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        return run(described.flow(instance, *args, **kwargs))

    _named_as(method, described.flow)
    vars(method)["__wrapped__"] = described
    return method


def _named_as(method: Any, flow: Callable[..., Any]) -> None:
    method.__name__, method.__qualname__, method.__doc__ = flow.__name__, flow.__qualname__, flow.__doc__


def _signature(flow: Callable[..., Any]) -> inspect.Signature:
    """The parameters of an operation, with the fields of its request as keywords, as `help` shows them."""
    signature = inspect.signature(flow)
    parameters: list[inspect.Parameter] = []
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.kind is not parameter.VAR_KEYWORD:
            parameters.append(parameter)
            continue
        [request] = get_args(get_type_hints(flow, include_extras=True)[parameter.name])
        for name, annotation in request.__annotations__.items():
            text = str(getattr(annotation, "__forward_arg__", annotation))
            is_required = text.startswith("Required[")
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if is_required else ...,
                    annotation=text.removeprefix("Required[").removesuffix("]") if is_required else text,
                )
            )
    return signature.replace(parameters=parameters)
