"""The one Spark session of a worker: started when it is first needed, reused, and started again when it is lost.

A job is a kernel over the rows of a source. Both are values, so that a job whose session was lost is run again in the
next one. Jobs run concurrently, each in the thread of its caller and in a job group by which it is cancelled.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import psutil
import pyarrow as pa
import structlog
from py4j.protocol import Py4JError
from pyspark import Broadcast
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from app import tracing
from app.errors import Failure
from app.errors.machine import SparkJobCancelled, SparkJobFailed, SparkUnavailable
from app.errors.quotation import quoted
from app.jobs import shipping
from app.jobs.connection import Connection
from app.jobs.kernels.loop import Payload, results_of, with_failure
from app.jobs.processes import kill_with_descendants
from app.jobs.sources import Source, Step
from app.services.spark_master import LOCAL, SparkMaster

TRACEPARENT = "rackplan.traceparent"
"""The local property of Spark that has the W3C id of the span of a job, if there is one."""
_WATCHED_EVERY_S = 0.25
_ANSWERS_WITHIN_S = 3.0
_LONGEST_GIST = 500
_OF_TASK = re.compile(r"most recent failure: [^\n]{0,300}?\): ([^\n]+)")
_FRAME = re.compile(r"\s+(?:at |\.\.\. )")
_PYTHON_ERROR = re.compile(r"^(?:[\w.]+(?:Error|Exception|Interrupt|Exit|Warning|Group))(?::.*)?$", re.MULTILINE)


def _is_jvm_of_spark(process: psutil.Process) -> bool:
    """Whether a process is the JVM of a session, or the script that becomes it."""
    try:
        return "pyspark-shell" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


@dataclass(eq=False, slots=True)
class _Running:
    """A running job, and why it is to end early."""

    group: str
    ended: threading.Event = field(default_factory=threading.Event)
    is_cancelled: bool = False
    is_without_executors: bool = False


class _SessionLost(Exception):
    """The session of a job cannot be used any more."""


class Spark:
    """The Spark session of a worker. Its methods may be called from several threads.

    Parameters
    ----------
    master : `local[*]`, `spark://host:port`, `k8s://…` or `yarn`.
    driver_memory : of the driver's JVM, in which `local` runs its executors too.
    properties : a file of further Spark properties.
    executors_within_s : a job without an executor for so long is ended: it lost its master, or never gets an executor.
    """

    def __init__(
        self,
        master: str = LOCAL,
        *,
        driver_memory: str = "1g",
        properties: Path | None = None,
        executors_within_s: float = 60.0,
    ) -> None:
        self.master = SparkMaster(master)
        self._driver_memory, self._properties = driver_memory, properties
        self._executors_within_s = executors_within_s
        self._connecting = threading.RLock()
        self._connection: Connection | None = None
        self._ending = threading.Event()
        self._running: set[_Running] = set()

    def __enter__(self) -> "Spark":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    @property
    def is_started(self) -> bool:
        """Whether there is a session already; starting one takes 5 to 20 seconds."""
        return self._connection is not None

    def session(self) -> SparkSession:
        """The session, started now unless it is running.

        Raises
        ------
        SparkUnavailable
            The master does not answer.
        JavaNotFound
            There is no Java to run Spark on.
        """
        return self._connected().session

    def prepare(self, after_s: float, example: Callable[["Spark"], object]) -> None:
        """Start the session and Python on the executors ahead of the first job; a failure is logged.

        Parameters
        ----------
        after_s : seconds to wait before. If a job starts the session meanwhile, or `end` is called, nothing is done.
        example : runs a small job. The first job of a session loads much of Spark, and its tasks Python, numba and a
            loop.
        """
        if self._ending.wait(after_s) or self.is_started or self._running:
            return
        try:
            example(self)
        except SparkJobCancelled:
            pass
        except Failure as failure:  # the first job that needs Spark meets it too, and reports it
            structlog.get_logger().warning("spark.not_prepared", detail=failure.detail)

    def run(self, kernel: str, *, payload: Payload, over: Source | Step, schema: pa.Schema, group: str) -> pa.Table:
        """Run a kernel over the rows of a source on the executors, and collect the rows that it yields.

        Parameters
        ----------
        kernel : its name in `app.jobs.kernels.registry`.
        payload : input of the kernel's `prepare`; sent to every executor once.
        over : the rows, or a preceding step that creates them.
        schema : of the rows that the kernel yields.
        group : for `cancel`; jobs of different groups share the executors fairly.

        Returns
        -------
        The rows of all tasks, in the order of the source's partitions.

        Raises
        ------
        Failure
            The kernel's own.
        SparkJobCancelled
            `cancel` was called for the group.
        SparkJobFailed
            The kernel ended with an exception that is not a failure of the domain.
        SparkUnavailable
            The master does not answer or provides no executors, or the session was lost twice.
        """
        at = self.master.url
        traced = tracing.span(f"spark {kernel}", rackplan_kernel=kernel, rackplan_group=group, server_address=at)
        with self._listed(group) as running, traced:
            try:
                return self._attempt(running, kernel, payload, over, schema)
            except _SessionLost as lost:
                # Kernels are deterministic, so a lost job is run again.
                structlog.get_logger().warning("spark.lost", master=self.master.url, reason=str(lost), group=group)
            try:
                return self._attempt(running, kernel, payload, over, schema)
            except _SessionLost as lost:
                raise SparkUnavailable(
                    f"{self.master.url} was lost twice in one job: {lost}", master=self.master.url
                ) from lost

    def cancel(self, group: str) -> None:
        """Cancel the running jobs of the group; each `run` raises `SparkJobCancelled` within seconds."""
        for running in list(self._running):
            if running.group == group:
                running.is_cancelled = True

    def close(self) -> None:
        """End the session and its JVM; the next job starts others."""
        with self._connecting:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def end(self) -> None:
        """End the session for good, with every JVM of this process; a job that runs raises `SparkJobCancelled`.

        Does not wait for a session that is being started: its JVM is killed as a child process.
        """
        self._ending.set()
        if self._connecting.acquire(blocking=False):
            try:
                self.close()
            finally:
                self._connecting.release()
        kill_with_descendants(*(child for child in psutil.Process().children() if _is_jvm_of_spark(child)))

    def _connected(self) -> Connection:
        with self._connecting:
            if self._ending.is_set():
                raise SparkJobCancelled("the worker stops")
            if self._connection is not None and not self._is_usable(self._connection):
                self._drop(self._connection)
            if self._connection is None:
                started = time.monotonic()
                self._connection = self._start()
                seconds = round(time.monotonic() - started, 1)
                structlog.get_logger().info("spark.started", master=self.master.url, seconds=seconds)
            return self._connection

    def _start(self) -> Connection:
        try:
            return Connection(self.master, driver_memory=self._driver_memory, properties=self._properties)
        except SparkUnavailable as unavailable:
            if self._ending.is_set():  # which killed the JVM
                raise SparkJobCancelled("the worker stops") from unavailable
            raise

    def _is_usable(self, connection: Connection) -> bool:
        """Whether a session can run a job. A session whose master does not answer is dropped."""
        try:
            self.master.connect(within_s=_ANSWERS_WITHIN_S)
        except SparkUnavailable:
            self._drop(connection)
            raise
        return connection.is_alive

    def _drop(self, connection: Connection) -> None:
        """Drop an unusable connection, unless another thread has done so."""
        with self._connecting:
            if self._connection is not connection:
                return
            self._connection = None
        connection.end()

    @contextmanager
    def _listed(self, group: str) -> Iterator[_Running]:
        running = _Running(group)
        self._running.add(running)
        try:
            yield running
        finally:
            self._running.discard(running)

    def _attempt(
        self, running: _Running, kernel: str, payload: Payload, over: Source | Step, schema: pa.Schema
    ) -> pa.Table:
        connection = self._connected()
        running.ended.clear()
        running.is_without_executors = False
        watcher = threading.Thread(target=self._watch, args=(running, connection), daemon=True)
        watcher.start()
        try:
            return _collected(connection, running.group, (kernel, payload, schema), over)
        except (Py4JError, PySparkException, OSError) as failure:
            raise self._failure_of(failure, running, connection) from failure
        finally:
            running.ended.set()
            watcher.join()

    def _failure_of(self, failure: Exception, running: _Running, connection: Connection) -> Exception:
        """The failure to raise for an exception inside Spark."""
        if running.is_cancelled or self._ending.is_set():
            return SparkJobCancelled(f"the job {running.group} was cancelled", group=running.group)
        if running.is_without_executors:
            self._drop(connection)
            reason = f"no executor for {self._executors_within_s:g} s"
            if connection.had_executors:
                return _SessionLost(reason)
            return SparkUnavailable(
                f"{self.master.url} answers and gives the session {reason}: it has no workers, or none that is free",
                master=self.master.url,
            )
        if not connection.is_alive:
            self._drop(connection)
            return _SessionLost("its JVM or its context has ended")
        return SparkJobFailed(_gist(str(failure)), group=running.group)

    def _watch(self, running: _Running, connection: Connection) -> None:
        """Cancel a job in Spark if it was cancelled here, or if it has no executors."""
        had_executors_at = time.monotonic()
        context = connection.session.sparkContext
        # The connection may be lost at any moment; the thread of the job gets the same error, and handles it.
        with suppress(Py4JError, OSError):
            while not running.ended.wait(_WATCHED_EVERY_S):
                if connection.executors:
                    connection.had_executors = True
                    had_executors_at = time.monotonic()
                elif time.monotonic() - had_executors_at > self._executors_within_s:
                    running.is_without_executors = True
                if running.is_cancelled or running.is_without_executors:
                    # Repeatedly, because it may be called before Spark has started the job.
                    context.cancelJobGroup(running.group)


def _collected(
    connection: Connection, group: str, job: tuple[str, Payload, pa.Schema], over: Source | Step
) -> pa.Table:
    kernel, _, schema = job
    context = connection.session.sparkContext
    # The trace's id in Spark's own event log, UI and REST API.
    traceparent = tracing.traceparent()
    context.setJobGroup(group, f"{kernel} of {group}" if traceparent is None else f"{kernel} of {group}, {traceparent}")
    context.setLocalProperty(TRACEPARENT, traceparent)  # type: ignore[arg-type] # None removes it
    context.setLocalProperty("spark.scheduler.pool", group)
    with ExitStack() as sent:
        follows = isinstance(over, Step)
        rows = _step(connection, over, sent) if isinstance(over, Step) else over(connection.session)
        return results_of(_mapped(connection, job, rows, sent, follows=follows).toArrow()).cast(schema)


def _step(connection: Connection, step: Step, sent: ExitStack) -> DataFrame:
    job = (step.kernel, step.payload, step.schema)
    return step.together(_mapped(connection, job, step.over(connection.session), sent, follows=False))


def _mapped(
    connection: Connection, job: tuple[str, Payload, pa.Schema], rows: DataFrame, sent: ExitStack, *, follows: bool
) -> DataFrame:
    """Map the rows by a kernel; its broadcast is destroyed when `sent` is closed."""
    kernel, payload, schema = job
    broadcast_job = connection.session.sparkContext.broadcast((kernel, payload, schema.serialize().to_pybytes()))
    sent.callback(_destroy, broadcast_job)
    task = shipping.task_of(connection.archive.name, broadcast_job, follows=follows)
    return rows.mapInArrow(task, from_arrow_schema(with_failure(schema)))


def _destroy(broadcast_job: "Broadcast[tuple[str, Payload, bytes]]") -> None:
    with suppress(Py4JError, OSError):  # if the JVM has ended, so has the broadcast
        broadcast_job.destroy()


def _gist(text: str) -> str:
    """The most informative line of an error of Spark, for display.

    The error of Python, else of the last task that failed, else the last line that is no frame of a stack.
    """
    errors = [line.strip() for line in _PYTHON_ERROR.findall(text)]
    own = [line for line in errors if not line.startswith(("org.apache.spark", "java.", "pyspark."))]
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _FRAME.match(line)]
    return quoted((own or errors or _OF_TASK.findall(text) or lines or ["Spark says nothing"])[-1], _LONGEST_GIST)
