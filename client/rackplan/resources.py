"""Documents that have operations: they know the client that returned them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Concatenate

from rackplan.flows import Bound, Items, K, P, Session, T, iteration, operation
from rackplan.records import Record


class Resource(Record, Bound[K]):
    """A document with an id, and operations on it."""

    id: str

    def __init__(self, raw: Mapping[str, Any], client: Session) -> None:
        super().__init__(raw)
        vars(self)["_client"] = client


def of_resource(whole: operation[Concatenate[str, P], T]) -> operation[P, T]:
    """An operation of a client whose first argument is an id, as a method of the resource with that id."""

    def flow(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        return whole.flow(resource._client, resource.id, *args, **kwargs)

    return operation(_as(whole.flow, flow))


def items_of_resource(whole: iteration[Concatenate[str, P], T]) -> iteration[P, T]:
    """As `of_resource`, of an operation that iterates."""

    def flow(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Items[T]:
        return whole.flow(resource._client, resource.id, *args, **kwargs)

    return iteration(_as(whole.flow, flow))


def _as(whole: Any, flow: Any) -> Any:
    flow.__name__, flow.__doc__ = whole.__name__, whole.__doc__
    return flow
