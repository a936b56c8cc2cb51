"""The engine, and the unit of work: one transaction, committed at the edge."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import orjson
import sqlalchemy as sa

from app.store.answers import Answers
from app.store.api_keys import ApiKeys
from app.store.jobs import Jobs
from app.store.plans import Plans
from app.store.snapshots import Snapshots
from app.store.sweeps import Sweeps
from app.store.transaction import Transaction

CONNECTIONS = 8
"""Of a process that does not say how many it needs: a worker, a command."""
_FREE_WITHIN_S = 10.0


class UnitOfWork:
    """What one transaction may read and write. It takes a connection with its first statement.

    Whoever made it commits or rolls back; a service does neither. `release` is for services: between reading what a
    plan needs and storing the plan, no connection is held.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.snapshots = Snapshots(transaction)
        self.plans = Plans(transaction)
        self.jobs = Jobs(transaction)
        self.api_keys = ApiKeys(transaction)
        self.answers = Answers(transaction)
        self.sweeps = Sweeps(transaction)

    @property
    def is_open(self) -> bool:
        """Whether it holds a connection."""
        return self._transaction.is_open

    def release(self) -> None:
        """Give the connection back until the next statement, which may see what others committed since.

        Nothing happens if something was written or locked, as an Idempotency-Key is: all of that is one transaction.
        """
        self._transaction.release()

    def commit(self) -> None:
        """Make what was written permanent, and give the connection back."""
        self._transaction.commit()

    def rollback(self) -> None:
        """Undo what was written, and give the connection back."""
        self._transaction.rollback()


class Database:
    """A Postgres that plans are kept in.

    Parameters
    ----------
    url : `postgresql://…`; the driver is ours to choose.
    connections : in use at once, at most; whoever needs one more waits for some seconds, and then gets `ServiceBusy`.
    """

    def __init__(self, url: str, *, connections: int = CONNECTIONS) -> None:
        self.url = sa.make_url(url).set(drivername="postgresql+psycopg")
        self.engine = sa.create_engine(
            self.url,
            pool_pre_ping=True,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=_FREE_WITHIN_S,
            json_serializer=lambda value: orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode(),
            json_deserializer=orjson.loads,
            connect_args={"connect_timeout": 10, "application_name": "rackplan", "options": "-c timezone=UTC"},
        )

    @contextmanager
    def begin(self) -> Iterator[UnitOfWork]:
        """One transaction: committed when the block ends, rolled back when it raises."""
        uow = self.unit_of_work()
        try:
            yield uow
        except BaseException:
            uow.rollback()
            raise
        uow.commit()

    def unit_of_work(self) -> UnitOfWork:
        """One transaction, which the caller commits or rolls back."""
        return UnitOfWork(Transaction(self.engine))

    def connections_accepted(self) -> int:
        """How many connections Postgres accepts in all from accounts that are no superusers."""
        setting = sa.func.current_setting
        limit, reserved = setting("max_connections"), setting("superuser_reserved_connections")
        with self.engine.connect() as connection:
            row = connection.execute(sa.select(sa.cast(limit, sa.Integer), sa.cast(reserved, sa.Integer))).one()
        return int(row[0] - row[1])

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
