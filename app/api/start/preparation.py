"""Once a service listens: compile and load its loops, and store the examples if they are wanted."""

import time
from collections.abc import Collection
from threading import Event, Thread

import structlog
from sqlalchemy.exc import DBAPIError

from app.api.http.deferred_routers import DeferredRouters
from app.core.compiled.building import CompilationFailed, compile_all, load_all, uncompiled
from app.deferred import IMPORTING
from app.errors.access import DatabaseUnavailable, ServiceBusy, StorageFull
from app.errors.requests import QuotaExceeded
from app.store import transaction
from app.store.database import Database

_NICENESS = 10
_ENDS_WITHIN_S = 0.5


class Preparation:
    """The preparation of one service, in a thread.

    Loops are compiled in processes of low priority, which the stop of the service kills. After an installation by
    `make` or in an image there is nothing to compile.

    Parameters
    ----------
    database : where the examples are stored.
    is_ending : is set when the service stops.
    stores_examples : whether the examples of the documentation are stored.
    has_webhooks : whether the operator allows webhooks, of which the example is one.
    """

    def __init__(self, database: Database, is_ending: Event, *, stores_examples: bool, has_webhooks: bool) -> None:
        self.is_done = Event()
        self.compiling: str | None = None
        self._database, self._is_ending, self._has_webhooks = database, is_ending, has_webhooks
        self._stores_examples = stores_examples
        self._thread: Thread | None = None

    def start(self, routers: DeferredRouters, ahead: Collection[str] | None) -> None:
        """Begin, without waiting for the end.

        Parameters
        ----------
        ahead : keys of the routers that are built ahead of requests. If None, all are, and all loops are loaded.
        """
        self._thread = Thread(target=self._run, args=(routers, ahead), name="prepare", daemon=True)
        self._thread.start()

    def wait_for_end(self) -> None:
        """Wait until the stop of the service has ended the work, for half a second at most."""
        if self._thread is not None:
            self._thread.join(_ENDS_WITHIN_S)

    def _run(self, routers: DeferredRouters, ahead: Collection[str] | None) -> None:
        self._compile()
        if not self._is_ending.is_set():
            self._store_examples()
        if ahead is None:
            routers.build_all(self._is_ending)
            load_all(self._is_ending)
        for key in ahead or ():
            routers.build(key)
        if not self._is_ending.is_set():
            self.is_done.set()

    def _store_examples(self) -> None:
        try:
            if not self._database.has_row_security():
                structlog.get_logger().warning(
                    "row_security.off",
                    detail=f"the account of the database cannot take the role {transaction.ROLE}: the queries of the "
                    "service alone separate teams; docs/teams.md has the statements for an administrator",
                )
            if not self._stores_examples:
                return
            with IMPORTING:
                from app.api.start import seeding  # noqa: PLC0415 -- the planners, which few services need here

            for store in seeding.steps(self._database, has_webhooks=self._has_webhooks):
                if self._is_ending.is_set():
                    return
                store()
        except (DBAPIError, DatabaseUnavailable, QuotaExceeded, ServiceBusy, StorageFull) as failure:
            if not self._is_ending.is_set():
                # The service answers without the examples; the next start stores them.
                detail = str(failure.orig) if isinstance(failure, DBAPIError) else failure.detail
                structlog.get_logger().warning("examples.not_kept", detail=detail)

    def _compile(self) -> None:
        """Compile loops that the installation lacks."""
        missing = len(uncompiled())
        if not missing:
            return
        log = structlog.get_logger()
        started = time.monotonic()
        self.compiling = f"0 of {missing}"
        log.info("loops.compiling", loops=missing)
        try:
            compiled = compile_all(on_progress=self._note, stop=self._is_ending, niceness=_NICENESS)
        except CompilationFailed as failure:  # a request compiles its own loops
            log.warning("loops.not_compiled", detail=str(failure))
        else:
            if not self._is_ending.is_set():
                log.info("loops.compiled", loops=compiled, seconds=round(time.monotonic() - started, 1))
        finally:
            self.compiling = None

    def _note(self, done: int, total: int, _: str, __: float) -> None:
        self.compiling = f"{done} of {total}"
