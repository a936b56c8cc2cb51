"""A plan of any kind from the body of its request: made here from files, or by a service.

The options of a command become the fields of the request's body, which the API's own model validates. So the rules of a
field are in one place, and a command means the same with and without a service.

Shared code of commands that read files: their cluster, requests with their validation, documents.

A module a command imports the services of its kind alone: importing is most of the time that a plan of a file takes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
import typer
from pydantic import TypeAdapter, ValidationError

from app.cli.output import read_input
from app.core.model import Cluster
from app.deferred import Registry
from app.errors import Json
from app.errors.quotation import escaped, suggestion
from app.errors.requests import ConflictingFields, InvalidField, MalformedKey
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.formats.snapshots.plain_names import require_plain_names
from app.formats.sources import rebalances
from app.formats.syntax import unique_json
from app.formats.syntax.garbage import uncollected
from app.formats.syntax.lines import decode, rejection
from app.services import snapshots
from app.services.plans import BATCH, FilePart, draft_plan, plan_json
from app.services.plans.kinds import KINDS
from app.settings import Settings

if TYPE_CHECKING:
    from app.services.plans import Plan
    from app.store.records import NewPlan


RequestT = TypeVar("RequestT")

_SNAPSHOT_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_UNNAMED = "offline"
_SNAPSHOT_MEMBERS = frozenset({"cluster", "brokers"})


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that describe a cluster.

    Parameters
    ----------
    files : texts of Kafka's tools and a snapshot, recognized by their contents, in any order.
    parts : files of a known type: `brokers`, `topics`, `log_dirs`, `groups`, `features`.
    snapshot : a file with a snapshot, or the id of a snapshot of a service.
    name : the cluster's; None for the snapshot's, or `offline`.
    """

    files: Sequence[Path] = ()
    parts: Mapping[str, Path | None] = field(default_factory=dict)
    snapshot: str | None = None
    name: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no file."""
        return not self.files and self.snapshot is None and all(file is None for file in self.parts.values())

    @property
    def is_remote(self) -> bool:
        """Whether a snapshot of a service is named, and no file."""
        is_id = self.snapshot is not None and _SNAPSHOT_ID.fullmatch(self.snapshot) is not None
        files = [*self.files, *(file for file in self.parts.values() if file is not None)]
        return not files and (is_id if self.snapshot is not None else self.name is not None)

    def cluster(self) -> Cluster:
        """The cluster that the files describe; remarks on the texts are warnings on standard error.

        A snapshot is a whole cluster. Texts beside it add missing groups.

        Raises
        ------
        MalformedText : a file cannot be read or is missing. InvalidField : of a snapshot.
        ConflictingFields : there are two snapshots, or other texts that list brokers or topics beside one.
        """
        with uncollected():
            return self._read()

    def _read(self) -> Cluster:
        files = [*self.files, *([] if self.snapshot is None else [Path(self.snapshot)])]
        named = [*((file.name, file) for file in files), *self.parts.items()]
        uploads = [Upload.of(read_input(file), name) for name, file in named if file is not None]
        taken = [(upload, document) for upload in uploads if (document := _snapshot(upload)) is not None]
        texts = [upload for upload in uploads if all(upload is not one for one, _ in taken)]
        if len(taken) > 1:
            raise ConflictingFields(f"{taken[0][0].name} and {taken[1][0].name} are both snapshots", path=("snapshot",))
        if not taken:
            return self._assembled(texts)
        from app.api.models.clusters import SnapshotRequest  # noqa: PLC0415 — texts are read without it, sooner

        [(upload, document)] = taken
        cluster = validated(SnapshotRequest, document).core()
        if self.name is not None:
            cluster = replace(cluster, name=self.name)
            require_plain_names(cluster, ())
        return self._with_groups(cluster, upload.name, texts) if texts else cluster

    def _with_groups(self, cluster: Cluster, snapshot: str | None, texts: Sequence[Upload]) -> Cluster:
        """The cluster of a snapshot with the groups that texts beside it describe."""
        beside = self._assembled(texts)
        if beside.brokers or beside.topics:
            detail = f"{snapshot} is a snapshot, which has the brokers and topics; only groups can be added to it"
            raise ConflictingFields(detail, path=("snapshot",))
        return replace(cluster, groups=beside.groups)

    def _assembled(self, texts: Sequence[Upload]) -> Cluster:
        assembled = assemble(self.name or _UNNAMED, texts)
        for caution in snapshots.of_assembly(assembled):
            typer.echo(f"rackplan: warning: {escaped(caution.detail)}", err=True)
        return assembled.cluster


def read_json(file: Path, what: str) -> Json:
    """The JSON document of a file. Raises `MalformedText`."""
    return json_of(decode(read_input(file), what), what)


def json_of(text: str, what: str) -> Json:
    """The JSON document of a text. Raises `MalformedText`."""
    try:
        document: Json = unique_json.loads(text)
    except json.JSONDecodeError as wrong:
        raise rejection(wrong.lineno, expected=f"a {what} in JSON", actual=wrong.msg, path=(what,)) from None
    return document


def validated(request: type[RequestT], body: Json) -> RequestT:
    """The body as the API validates it. Raises `InvalidField`."""
    try:
        return TypeAdapter(request).validate_python(body)
    except ValidationError as invalid:
        from app.api.problems.field_errors import field_errors, first_of, within_body  # noqa: PLC0415 — it reads every model of the API

        errors = field_errors(within_body(invalid), body)
    raise InvalidField(first_of(errors, total=len(errors)), errors=errors)


def printed(document: bytes) -> bytes:
    """A document with indentation."""
    return orjson.dumps(orjson.loads(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def require(option: str, value: str | None, known: tuple[str, ...]) -> None:
    """Raise `ConflictingFields` if the value of an option is unknown."""
    if value is not None and value not in known:
        meant = suggestion(value, known)
        raise ConflictingFields(f"--{option} is {value}; it has to be one of {', '.join(known)}{meant}", path=(option,))


def _snapshot(upload: Upload) -> Json:
    """The JSON of a snapshot, as `rackplan snapshot` writes it or the service returns it; None for any other text."""
    if not upload.text.lstrip().startswith("{"):
        return None
    try:
        document = orjson.loads(upload.text)
    except orjson.JSONDecodeError:
        return None
    try:
        unique_json.require_unique(upload.text, unique_json.members_of(document))
    except unique_json.RepeatedMember as repeated:
        expected = "a snapshot with each member once"
        raise rejection(None, expected=expected, actual=repeated.msg, path=("snapshot",)) from None
    document = document.get("document", document)
    return document if isinstance(document, dict) and document.keys() >= _SNAPSHOT_MEMBERS else None


_ABOUT_SNAPSHOTS = ("snapshot_id", "cluster")
_MODELS = Registry[Any](
    {
        "replicas": "app.api.replicas:PlaceRequest",
        "reassignment": "app.services.reassignment:ReassignmentRequest",
        "group": "app.api.groups:PlanGroupRequest",
        "streams": "app.api.streams:PlanStreamsRequest",
        "restart": "app.services.restarts:RestartRequest",
        "consumers": "app.services.consumers:ConsumersRequest",
    }
)
"""The bodies of the API by kind; nothing of other kinds is imported."""
_OF_A_CLUSTER = ("reassignment", "restart")
"""Kinds of plans that need the files of a cluster."""


@dataclass(frozen=True, slots=True)
class Export:
    """The format of a plan: the API's JSON if `name` is None; `batch`, `is_inverse`: of one batch."""

    name: str | None = None
    batch: int | None = None
    is_inverse: bool = False


def body_of(options: Mapping[str, Json], request: Path | None) -> Json:
    """The body of a request: the fields of options, or of a file.

    Raises
    ------
    ConflictingFields : there are options and a file, or the file names a snapshot.
    MalformedText : the file is neither JSON nor a `KafkaRebalance`.
    """
    if request is None:
        return options
    if options:
        names = ", ".join(options)
        raise ConflictingFields(
            f"a request file has every field, and options state {names}: they exclude each other", path=("request",)
        )
    text = decode(read_input(request), "request")
    if (rebalance := rebalances.read(text)) is not None:
        for note in rebalance.notes:
            typer.echo(f"rackplan: warning: {escaped(note)}", err=True)
        return rebalance.fields
    body = json_of(text, "request")
    for name in _ABOUT_SNAPSHOTS:
        if isinstance(body, Mapping) and name in body:
            detail = f"the cluster is that of the files or of --snapshot; leave {name} out of the request"
            raise ConflictingFields(detail, path=(name,))
    return body


def make(kind: str, body: Json, inputs: Inputs, export: Export) -> bytes:
    """Plan on the cluster that the files describe, if there are any; the plan as the API writes it, or an export.

    Raises the errors of the kind's service, and `ConflictingFields` for an unknown format.
    """
    found = KINDS[kind]
    if export.name is None and (export.batch is not None or export.is_inverse):
        option = "inverse" if export.batch is None else "batch"
        raise ConflictingFields(f"--{option} goes with --export {BATCH}", path=(option,))
    require("export", export.name, tuple(found.formats))
    request = validated(_MODELS[kind], body).service()
    with uncollected():
        described = None if inputs.is_empty and kind not in _OF_A_CLUSTER else inputs.cluster()
        plan: Plan | NewPlan = draft_plan(found.planner, request, described, Settings().limits)
        if export.name is None:
            return printed(plan_json(plan))
        return found.write(plan, export.name, lambda: described, FilePart(export.batch, export.is_inverse))


def body_of_keys(
    file: Path, fields: Mapping[str, Json], *, null_marker: str | None, null_keys: bool
) -> dict[str, Json]:
    """The body of `POST /v1/keys/partitions` for the keys of a file.

    A line is a key, an empty line an empty key, and a line equal to `null_marker` a record without key; these are
    placed if `null_keys` is true or the fields say how.

    Raises
    ------
    MalformedText : the file is no text.
    """
    lines = [line.removesuffix("\r") for line in decode(read_input(file), "keys").split("\n")]
    if lines[-1] == "":  # the end of the last line does not begin another one
        del lines[-1]
    keys: list[Json] = [None if line == null_marker else line for line in lines]
    return {"keys": keys, **({"null_keys": {}} if null_keys else {}), **fields}


def place_keys(body: Mapping[str, Json]) -> bytes:
    """Find the partitions of the keys, as the API writes them.

    Raises the errors of the service, `InvalidField`, and `MalformedKey` with the number of the line.
    """
    from app.services import keys  # noqa: PLC0415 — the core comes with it

    try:
        answer = keys.place_keys(validated(keys.KeysRequest, body), Settings().limits)
    except MalformedKey as malformed:
        line = int(malformed.path[-1]) + 1
        raise MalformedKey(f"line {line}: {malformed.detail}", path=malformed.path, line=line) from None
    return printed(keys.to_json(answer))
