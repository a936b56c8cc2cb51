"""The base of the stores of rows that have an id and a team: they are read, listed in pages and deleted alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from secrets import randbits
from time import time_ns
from typing import Any, ClassVar, Generic, Self, TypeVar
from uuid import UUID

import sqlalchemy as sa

from app.errors import FieldPath
from app.errors.failure import NotFound
from app.store.transaction import Store, columns_of


def uuid7() -> UUID:
    """A new UUIDv7: 48 bits of Unix milliseconds, then 74 random ones. Source: RFC 9562, section 5.7."""
    milliseconds = time_ns() // 1_000_000
    return UUID(int=milliseconds << 80 | 7 << 76 | randbits(12) << 64 | 2 << 62 | randbits(62))


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list, and whether more follow."""

    items: tuple[Item, ...]
    has_more: bool

    @classmethod
    def of(cls, items: Sequence[Item], size: int) -> Self:
        """A page of `size` items from the result of a query for one item more, which is there if a page follows."""
        return cls(tuple(items[:size]), has_more=len(items) > size)


def page_of(
    connection: sa.Connection,
    table: sa.Table,
    record: type[Item],
    *conditions: sa.ColumnElement[bool],
    before: UUID | int | None,
    size: int,
) -> Page[Item]:
    """Rows of a table as records, which have some of its columns as fields; newest first, by id.

    Parameters
    ----------
    before : the last id of the page before.
    """
    c = table.c
    query = sa.select(*columns_of(table, record)).where(*conditions, *([] if before is None else [c.id < before]))
    rows = connection.execute(query.order_by(c.id.desc()).limit(size + 1))
    return Page.of([record(*row) for row in rows], size)


def equal(table: sa.Table, **values: str | None) -> list[sa.ColumnElement[bool]]:
    """The conditions that columns have these values; None is any."""
    return [table.c[name] == value for name, value in values.items() if value is not None]


Record = TypeVar("Record")


class Rows(Store, Generic[Record]):
    """Rows of one table in one transaction.

    Class attributes
    ----------------
    _table : has the columns `id` and `team`.
    _record : the dataclass that has the columns of a row as fields.
    _missing : the failure of an id that the team does not have.
    _path : where such an id is in a request, if it is not in its address.
    """

    _table: ClassVar[sa.Table]
    _record: ClassVar[type[Any]]
    _missing: ClassVar[type[NotFound]]
    _path: ClassVar[FieldPath] = ()
    _columns: ClassVar[tuple[sa.Column[Any], ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_table" in vars(cls):
            cls._columns = columns_of(cls._table, cls._record)

    def get(self, row_id: UUID, *, for_update: bool = False) -> Record:
        """The row of this id, or the failure `_missing`; `for_update` locks it, but for rows that refer to it."""
        query = sa.select(*self._columns).where(*self._is(row_id))
        connection = self._writing if for_update else self._reading
        found = self._one(connection.execute(query.with_for_update(key_share=True) if for_update else query))
        if found is None:
            raise self._not_found(row_id)
        return found

    def delete(self, row_id: UUID) -> None:
        """Delete the row and its dependent rows, or raise the failure `_missing`."""
        if self._writing.execute(self._table.delete().where(*self._is(row_id))).rowcount == 0:
            raise self._not_found(row_id)

    def page(
        self, *conditions: sa.ColumnElement[bool], before: UUID | None, size: int, **values: str | None
    ) -> Page[Record]:
        """Rows that fulfil conditions and have values of columns, newest first.

        Parameters
        ----------
        before : the last id of the page before. values : by the name of the column; None is any.
        """
        wanted = (*conditions, *equal(self._table, **values), *self._visible(self._table))
        return page_of(self._reading, self._table, self._record, *wanted, before=before, size=size)

    def _inserted(self, row_id: UUID | None, **values: object) -> Record:
        """A new row with these values; the id is a new one if it is None, and the team the default of new rows."""
        identity = {"id": row_id or uuid7(), "team": self._team}
        return self._stored(self._table.insert().values(identity | values))

    def _written(self, statement: sa.Insert | sa.Update) -> Record | None:
        """The row that a statement has written; None if it has written none."""
        return self._one(self._writing.execute(statement.returning(*self._columns)))

    def _stored(self, statement: sa.Insert | sa.Update) -> Record:
        """The row that a statement has inserted or changed."""
        return self._of(self._writing.execute(statement.returning(*self._columns)).one())

    def _first(self, query: sa.Select[Any]) -> Record | None:
        """The only row of a query over the columns, or None."""
        return self._one(self._reading.execute(query))

    def _one(self, result: sa.Result[Any]) -> Record | None:
        row = result.one_or_none()
        return None if row is None else self._of(row)

    def _of(self, row: Iterable[Any]) -> Record:
        record: Record = self._record(*row)
        return record

    def _is(self, row_id: UUID) -> list[sa.ColumnElement[bool]]:
        return [self._table.c.id == row_id, *self._visible(self._table)]

    def _not_found(self, row_id: UUID) -> NotFound:
        noun = self._missing.code.removesuffix("_not_found")
        context = {f"{noun}_id": str(row_id)}
        return self._missing(f"there is no {noun.replace('_', ' ')} {row_id}", path=self._path, **context)
