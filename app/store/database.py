"""The engine, and the unit of work: one transaction, committed at the edge."""

import math
import select
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection
from secrets import token_bytes, token_urlsafe
from typing import Any, Self

import orjson
import psycopg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.errors.access import DatabaseUnavailable
from app.errors.requests import InvalidField
from app.store import addresses, transaction, usage
from app.store.activity import Activities
from app.store.answers import Answers
from app.store.api_keys import ApiKeys, ShareLinks, key_hash
from app.store.audit import Audit
from app.store.jobs import Jobs
from app.store.plans import Plans
from app.store.queue import Queue
from app.store.snapshots import Snapshots
from app.store.sweeps import Sweeps
from app.store.tables import installation_keys, sessions
from app.store.transaction import LOST, RowSecurity, Store, Transaction, failure_of
from app.store.usage import Usage
from app.store.webhooks import Webhooks


class Sessions(Store):
    """Sessions in one transaction, which is the service's own: the role of requests does not have them."""

    def create(self, caller: Mapping[str, Any], *, issuer: str, valid_for: timedelta) -> str:
        """Begin a session; return its secret. Sessions that have expired are deleted."""
        self._writing.execute(sessions.delete().where(sessions.c.expires_at <= sa.func.now()))
        secret = token_urlsafe(32)
        row = {"secret_hash": key_hash(secret), "issuer": issuer, "caller": caller}
        self._writing.execute(sessions.insert().values(**row, expires_at=sa.func.now() + valid_for))
        return secret

    def find(self, secret: str, *, issuer: str) -> Mapping[str, Any] | None:
        """The caller of a session that has not expired, or None."""
        c = sessions.c
        query = sa.select(c.caller).where(
            c.secret_hash == key_hash(secret), c.issuer == issuer, c.expires_at > sa.func.now()
        )
        return self._reading.scalar(query)

    def end(self, secret: str) -> Mapping[str, Any] | None:
        """End a session; return its caller, or None."""
        ended = sessions.delete().where(sessions.c.secret_hash == key_hash(secret)).returning(sessions.c.caller)
        return self._writing.scalar(ended)


_KEY_BYTES = 32


class InstallationKeys(Store):
    """Keys of the installation in one transaction, by purpose."""

    def of(self, purpose: str) -> bytes:
        """The key for a purpose, made now if missing."""
        query = sa.select(installation_keys.c.key).where(installation_keys.c.purpose == purpose)
        key: bytes | None = self._reading.scalar(query)
        if key is None:
            row = insert(installation_keys).values(purpose=purpose, key=token_bytes(_KEY_BYTES))
            # Another request may make one at the same time: both then read the one that was first.
            self._writing.execute(row.on_conflict_do_nothing())
            key = self._writing.execute(query).scalar_one()
        return bytes(key)

    def forget(self, beginning: str) -> None:
        """Delete the keys whose purpose begins like this: their signatures become invalid."""
        begins = installation_keys.c.purpose.startswith(beginning, autoescape=True)
        self._writing.execute(installation_keys.delete().where(begins))

    def rotate(self, purpose: str) -> None:
        """Replace the key for a purpose: its signatures become invalid."""
        fresh = {"key": token_bytes(_KEY_BYTES), "created_at": sa.func.now()}
        row = insert(installation_keys).values(purpose=purpose, **fresh)
        self._writing.execute(row.on_conflict_do_update(index_elements=[installation_keys.c.purpose], set_=fresh))


CONNECTIONS = 8
"""Default pool size: a worker or a command."""
_FREE_WITHIN_S = 10.0
_PINGED_AFTER_S = 1.0
"""Idle time after which a connection may have been lost without a request that met it; a ping is a round trip."""
_USED_AT = "used_at"


class UnitOfWork(Transaction):
    """One transaction over all stores. It takes a connection with its first statement.

    The creator commits or rolls back; a service does neither. `release` is for services: between reading the input of
    a plan and storing the plan, no connection is in use. If something was written or locked, as an Idempotency-Key is,
    it does nothing: that is one transaction.
    """

    def __init__(self, engine: sa.Engine, security: RowSecurity, *, is_own: bool = False) -> None:
        super().__init__(engine, security, is_own=is_own)
        self.snapshots = Snapshots(self)
        self.plans = Plans(self)
        self.jobs = Jobs(self)
        self.api_keys = ApiKeys(self)
        self.audit = Audit(self)
        self.answers = Answers(self)
        self.sweeps = Sweeps(self)
        self.webhooks = Webhooks(self)
        self.activities = Activities(self)
        self.installation_keys = InstallationKeys(self)
        self.sessions = Sessions(self)
        self.share_links = ShareLinks(self)
        self.queue = Queue(self)
        self.usage = Usage(self)


class Database:
    """A Postgres database with the schema of `tables`.

    Parameters
    ----------
    url : `postgresql://…`, of one host or several; any driver that it names is replaced. Every statement raises
        `DatabaseUnavailable` if there is no connection, or if it is lost.
    connections : pool size; a transaction that needs one more waits for some seconds, then raises `ServiceBusy`.
    own_locks_s : the longest wait for a lock of the service's own transactions, such as the check of a key, which
        raise `DatabaseUnavailable` then; None is as long as it takes. Those that act for a team wait in any case:
        the deadline of their request ends them.
    quotas : of each team, in the order of `usage.QUOTAS`; statements that would exceed one raise `QuotaExceeded`.
    statements_s : the longest time of a statement, with its wait for locks; then it raises `DatabaseUnavailable`.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = CONNECTIONS,
        own_locks_s: float | None = None,
        quotas: tuple[int, ...] = (),
        statements_s: float | None = None,
    ) -> None:
        self.quotas = quotas
        options = "-c timezone=UTC" + usage.option(quotas)
        if own_locks_s is not None:
            options += f" -c lock_timeout={own_locks_s * 1000:.0f}"
        if statements_s is not None:
            options += f" -c statement_timeout={statements_s * 1000:.0f}"
        self.url = addresses.parsed(url)
        self.engine = sa.create_engine(
            self.url,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=_FREE_WITHIN_S,
            hide_parameters=True,  # messages of failures are logged
            json_serializer=lambda value: orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode(),
            json_deserializer=orjson.loads,
            connect_args={**addresses.parameters(self.url), "application_name": "rackplan", "options": options},
        )
        sa.event.listen(self.engine, "handle_error", _raise_failure)
        sa.event.listen(self.engine, "checkin", _note_use)
        sa.event.listen(self.engine, "checkout", self._ping_if_idle)
        self._security = RowSecurity()

    def _ping_if_idle(self, connection: Any, record: Any, _: object) -> None:
        """Look whether a connection is lost that nothing has used for a second, and let the pool connect anew.

        Postgres sends an idle connection nothing but its end, so that one with something to read is looked at too.
        """
        is_idle = time.monotonic() - record.info.get(_USED_AT, math.inf) > _PINGED_AFTER_S
        if is_idle or has_input(connection):
            try:
                self.engine.dialect.do_ping(connection)
            except psycopg.Error as lost:
                raise sa.exc.InvalidatePoolError from lost

    @contextmanager
    def begin(self, *, is_own: bool = False) -> Iterator[UnitOfWork]:
        """One transaction: committed when the block ends, rolled back when it raises.

        Parameters
        ----------
        is_own : the service's own: it sees every team's rows, whichever team the request acts for.
        """
        uow = self.unit_of_work(is_own=is_own)
        try:
            yield uow
        except BaseException:
            uow.rollback()
            raise
        uow.commit()

    def unit_of_work(self, *, is_own: bool = False) -> UnitOfWork:
        """One transaction, which the caller commits or rolls back."""
        return UnitOfWork(self.engine, self._security, is_own=is_own)

    def has_row_security(self) -> bool:
        """Whether requests take a role from which policies hide the rows of other teams."""
        with self.engine.connect() as connection:
            return transaction.is_usable(connection)

    def connections_accepted(self) -> int:
        """How many connections Postgres accepts in total from accounts that are not superusers."""
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


def _note_use(_: object, record: Any) -> None:
    record.info[_USED_AT] = time.monotonic()


def has_input(connection: psycopg.Connection[Any] | Connection) -> bool:
    """Whether the other end has sent something, or has closed the connection."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _has_nul(error: BaseException) -> bool:
    """Whether a statement failed for a NUL: in a text, which the driver rejects, or in JSON, which Postgres does."""
    is_by_driver = isinstance(error, psycopg.DataError) and error.sqlstate is None and "NUL" in str(error)
    return is_by_driver or isinstance(error, psycopg.errors.UntranslatableCharacter)


def _raise_failure(context: sa.engine.ExceptionContext) -> None:
    """Raise the failure of a database that cannot be reached, of a quota, or of a text that it cannot store."""
    error = context.original_exception
    if isinstance(error, psycopg.Error) and error.sqlstate == usage.SQLSTATE:
        raise usage.failure_of(error.diag.message_detail or "") from error
    if _has_nul(error):
        raise InvalidField("a text has the character U+0000, which no text of the database can have")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        context.is_disconnect = True  # another server may take writes by now: the pool connects anew
    failure = failure_of(error)
    if failure is None and context.connection is None:
        failure = DatabaseUnavailable("no connection to the database can be made; try again in a moment")
    elif failure is None and context.is_disconnect:
        failure = DatabaseUnavailable(LOST)
    if failure is not None:
        # The driver's own message names addresses and accounts: it is the cause, which the command line shows.
        raise failure from error
