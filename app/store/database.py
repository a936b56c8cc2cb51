"""The engine, and the unit of work: one transaction, opened and committed at the edge."""

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


class UnitOfWork:
    """What one transaction may read and write. Nothing in it commits; leaving `Database.begin` does."""

    def __init__(self, connection: sa.Connection) -> None:
        self.snapshots = Snapshots(connection)
        self.plans = Plans(connection)
        self.jobs = Jobs(connection)
        self.api_keys = ApiKeys(connection)
        self.answers = Answers(connection)
        self.sweeps = Sweeps(connection)


class Database:
    """A Postgres that plans are kept in.

    Parameters
    ----------
    url : `postgresql://…`; the driver is ours to choose.
    """

    def __init__(self, url: str) -> None:
        self.url = sa.make_url(url).set(drivername="postgresql+psycopg")
        self.engine = sa.create_engine(
            self.url,
            pool_pre_ping=True,
            json_serializer=lambda value: orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode(),
            json_deserializer=orjson.loads,
            connect_args={"connect_timeout": 10, "application_name": "rackplan", "options": "-c timezone=UTC"},
        )

    @contextmanager
    def begin(self) -> Iterator[UnitOfWork]:
        """One transaction: committed when the block ends, rolled back when it raises."""
        with self.engine.begin() as connection:
            yield UnitOfWork(connection)

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
