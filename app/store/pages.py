"""Lists in pages, newest first. Ids are UUIDv7, so that their order is the order of creation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar
from uuid import UUID

import sqlalchemy as sa

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list, and whether more follow."""

    items: tuple[Item, ...]
    has_more: bool

    @classmethod
    def of(cls, items: Sequence[Item], size: int) -> Self:
        """A page of `size` items from the result of a `newest_first` query, which has one more if a page follows."""
        return cls(tuple(items[:size]), has_more=len(items) > size)


def newest_first(
    query: sa.Select[Any], id_column: sa.ColumnElement[UUID], *, before: UUID | None, size: int
) -> sa.Select[Any]:
    """Limit a query to one page and the item after it."""
    if before is not None:
        query = query.where(id_column < before)
    return query.order_by(id_column.desc()).limit(size + 1)


def equal(table: sa.Table, **values: str | None) -> list[sa.ColumnElement[bool]]:
    """The conditions that columns have these values; None is any."""
    return [table.c[name] == value for name, value in values.items() if value is not None]
