"""The commands on a service, through its Python client: the same requests, snapshots uploaded, jobs waited for."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from app.cli.output import FAILED, WRONG_INPUT, fail
from app.errors import Json

if TYPE_CHECKING:
    from app.cli.planning import Export, Inputs
    from app.core.model import Cluster

_WRONG_REQUESTS = frozenset({400, 413, 415, 422})
"""Statuses of requests that are wrong themselves; others may succeed later, or with another key."""


def as_json(document: object) -> bytes:
    """A document of the service with indentation."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@contextmanager
def connected(url: str) -> Iterator[Any]:
    """A client of the service; a rejected request ends the command with its detail.

    The key or access token is read from `RACKPLAN_KEY`, since options of a command are visible to others.
    """
    import rackplan  # noqa: PLC0415 — most commands need no HTTP

    try:
        with rackplan.Client(url) as client:
            yield client
    except rackplan.JobCancelled as cancelled:
        fail("Cancelled", str(cancelled), {}, code=FAILED)
    except rackplan.Problem as problem:
        code = WRONG_INPUT if problem.status in _WRONG_REQUESTS else FAILED
        fail(problem.title or "The service failed", problem.detail, problem.document, code=code)
    except rackplan.RackplanError as unavailable:
        fail("The service is not available", str(unavailable), {}, code=FAILED)


def make_plan(url: str, kind: str, body: Json, inputs: "Inputs", export: "Export") -> bytes:
    """Plan on the service, and wait if that takes a job; the plan's JSON, or an export."""
    with connected(url) as client, progress(kind) as show:
        request = {**_mapping(body), **_snapshot(client, inputs)}
        plan = getattr(client, f"plan_{kind}")(progress=show, **request)
        if export.name is None:
            return as_json(plan.raw)
        content: bytes = plan.export(export.name, batch=export.batch, inverse=export.is_inverse).content
        return content


def place_keys(url: str, body: Mapping[str, Json]) -> bytes:
    """Place keys on the service; the JSON of its answer."""
    with connected(url) as client:
        return as_json(client.place_keys(**body).raw)


def cluster(url: str, inputs: "Inputs") -> "Cluster":
    """The cluster of a snapshot of the service: by id, or the newest one of a name."""
    from app.formats.snapshots import snapshot_json  # noqa: PLC0415 — most commands need no arrays

    with connected(url) as client:
        snapshot_id = inputs.snapshot
        if snapshot_id is None:
            newest = next(iter(client.list_snapshots(cluster=inputs.name, page_size=1)), None)
            if newest is None:
                fail("Snapshot not found", f"there is no snapshot of the cluster {inputs.name}", {}, code=FAILED)
            snapshot_id = str(newest.id)
        return snapshot_json.read(orjson.dumps(client.get_snapshot(snapshot_id).raw["document"]))


def operations() -> list[str]:
    """The ids of the operations of the API that the client has, sorted."""
    import rackplan  # noqa: PLC0415 — most commands need no HTTP
    from rackplan.flows import iteration, operation  # noqa: PLC0415 — most commands need no HTTP

    members = inspect.getmembers_static(rackplan.Client, lambda member: isinstance(member, operation | iteration))
    return [name for name, _ in members]


def written(answer: Any) -> bytes:
    """An answer of the client: a document as JSON, each item of a list as a line, a file or a text as it is."""
    if answer is None:
        return b""
    if isinstance(answer, str):
        return answer.encode()
    if isinstance(content := getattr(answer, "content", None), bytes):
        return content
    if isinstance(answer, Iterator):
        return b"".join(orjson.dumps(_raw(item), option=orjson.OPT_APPEND_NEWLINE) for item in answer)
    return as_json(_raw(answer))


def _raw(answer: Any) -> Any:
    return [_raw(one) for one in answer] if isinstance(answer, list | tuple) else getattr(answer, "raw", answer)


@contextmanager
def progress(what: str) -> Iterator[Callable[[Any], None]]:
    """A progress bar on standard error, if it is a terminal, for a job or a sweep; else a line for each state."""
    if not sys.stderr.isatty():
        states: list[str] = []

        def write(running: Any) -> None:
            if running.state not in states:
                states.append(running.state)
                sys.stderr.write(f"{what} {running.id}: {running.state}\n")

        yield write
        return
    from rich.console import Console  # noqa: PLC0415 — for people alone
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 — for people alone

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)

        def show(running: Any) -> None:
            total = running.raw.get("scenarios")
            bars.update(bar, description=f"{what} {running.state}", total=total, completed=running.raw.get("done", 0))

        yield show


def _snapshot(client: Any, inputs: "Inputs") -> dict[str, Json]:
    """The field of a request that names its snapshot, which is stored first if there are files."""
    if inputs.is_remote:
        return {"cluster": inputs.name} if inputs.snapshot is None else {"snapshot_id": inputs.snapshot}
    return {} if inputs.is_empty else {"snapshot_id": _uploaded(client, inputs)["id"]}


def _uploaded(client: Any, inputs: "Inputs") -> Mapping[str, Any]:
    from app.formats.snapshots import snapshot_json  # noqa: PLC0415 — see `cluster`

    document: Mapping[str, Any] = client.create_snapshot(**orjson.loads(snapshot_json.write(inputs.cluster()))).raw
    return document


def _mapping(body: Json) -> Mapping[str, Json]:
    """A body as the keyword arguments of the client; any other JSON ends the command."""
    if not isinstance(body, Mapping):
        fail("A field is invalid", "the request has to be a JSON object", {}, code=WRONG_INPUT)
    return body
