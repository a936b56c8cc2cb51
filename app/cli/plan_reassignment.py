"""`rackplan plan reassignment`: a change from options or from a file, planned and written.

Both become the body of `POST /v1/plans/reassignment` and are validated by its model, so the rules of a field are in one
place. There is no snapshot; the cluster is that of the texts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import orjson
from pydantic import ValidationError

from app.api.field_errors import field_error, first_of
from app.api.reassignment import PlanReassignmentRequest
from app.cli.offline import Texts, printed, require
from app.errors import Json
from app.errors.requests import ConflictingFields, InvalidField
from app.formats import topics_to_move as topics_file
from app.formats.lines import decode, rejection
from app.services.plans import BATCH, draft_plan
from app.services.reassignment import EXPORTS, PLAN_KIND, PLANNER, ReassignmentRequest
from app.settings import Settings

_NUMBER = re.compile(r"-?[0-9]{1,18}")
"""Text that is passed on as a number; the API's models check its range."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The options of the command that describe the change, as typed; a falsy one or None was not typed."""

    add_broker: Sequence[str] = ()
    remove_broker: Sequence[int] = ()
    replace_broker: Sequence[str] = ()
    forbid_broker: Sequence[int] = ()
    replication_factor: Sequence[str] = ()
    partitions: Sequence[str] = ()
    topic: Sequence[str] = ()
    leaders_only: bool = False
    fix_offline_replicas: bool = False
    rack_mode: str | None = None
    balance: str | None = None
    balance_by: str | None = None
    leaders: str | None = None
    minimise: str | None = None
    max_moved_bytes: int | None = None
    trade_off: bool = False
    merge_running: bool = False
    relax: bool = False
    max_moves_in_per_broker: int | None = None
    kafka_version: str | None = None
    throttle: int | None = None

    def typed(self) -> list[str]:
        """The names of the options that were typed."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return [f"--{name.replace('_', '-')}" for name, value in values.items() if value not in (None, False, (), [])]

    def body(self) -> dict[str, Json]:
        """The body of the request. Raises `ConflictingFields` if an option does not have its form."""
        body: dict[str, Json] = {
            "add_brokers": [_broker(text) for text in self.add_broker],
            "remove_brokers": list(self.remove_broker),
            "replace_brokers": _pairs("replace-broker", self.replace_broker),
            "forbid_brokers": list(self.forbid_broker),
            "replication_factor": _pairs("replication-factor", self.replication_factor),
            "partitions": _pairs("partitions", self.partitions),
            "topics": list(self.topic) or None,
            "leaders_only": self.leaders_only,
            "fix_offline_replicas": self.fix_offline_replicas,
            "rack_mode": self.rack_mode,
            "balance": _without_none(
                replicas=_balance(self.balance), replicas_by=self.balance_by, leaders=_balance(self.leaders)
            ),
            "minimise": self.minimise,
            "max_moved_bytes": self.max_moved_bytes,
            "trade_off": self.trade_off,
            "running_reassignment": "merge" if self.merge_running else None,
            "on_conflict": "relax" if self.relax else None,
            "kafka_version": self.kafka_version,
            "batches": _without_none(
                max_moves_in_per_broker=self.max_moves_in_per_broker, throttle_bytes_per_s=self.throttle
            ),
        }
        return _without_none(**body)


@dataclass(frozen=True, slots=True)
class Output:
    """The format of the output: the API's JSON if `export` is None; `batch`, `is_inverse`: of one batch."""

    export: str | None = None
    batch: int | None = None
    is_inverse: bool = False


def request_of(changes: Changes, file: Path | None) -> ReassignmentRequest:
    """The request to the service, from the options, or from the file if there is one.

    Raises
    ------
    ConflictingFields : there are options and a file, or an option does not have its form.
    MalformedText : the file is not JSON.
    InvalidField : a field of the file, or an option, is invalid.
    """
    if file is None:
        return _checked(changes.body())
    if typed := changes.typed():
        detail = f"a request file replaces the options; {', '.join(typed)} and --request exclude each other"
        raise ConflictingFields(detail, path=("request",))
    text = decode(file.read_bytes(), "request")
    try:
        body: Json = orjson.loads(text)
    except orjson.JSONDecodeError as wrong:
        raise rejection(wrong.lineno, expected="a request in JSON", actual=wrong.msg, path=("request",)) from None
    if isinstance(body, Mapping) and "snapshot_id" in body:
        detail = "snapshots belong to a service, and this cluster is that of the texts; leave snapshot_id out"
        raise ConflictingFields(detail, path=("snapshot_id",))
    return _checked(body)


def topics_to_move(file: Path | None) -> tuple[str, ...]:
    """The topics that a file for Kafka's `--topics-to-move-json-file` names, none without a file.

    Raises
    ------
    MalformedText : the file is not such a document.
    """
    return () if file is None else topics_file.read(decode(file.read_bytes(), "topics_to_move"))


def reassign(request: ReassignmentRequest, *, texts: Texts, cluster: str, output: Output) -> bytes:
    """Plan the change of the cluster that the files describe; the plan as the API writes it, or one of the exports.

    Raises what the service does, and `ConflictingFields` if the value of an option is unknown.
    """
    require("export", output.export, (*EXPORTS, BATCH))
    if output.export is None and (output.batch is not None or output.is_inverse):
        option = "inverse" if output.batch is None else "batch"
        raise ConflictingFields(f"--{option} goes with --export {BATCH}", path=(option,))
    described = texts.cluster(cluster)
    plan = draft_plan(PLANNER, request, described, Settings().limits)
    if output.export is None:
        return printed(PLAN_KIND.to_json(plan))
    return PLAN_KIND.write(plan, output.export, lambda: described, batch=output.batch, is_inverse=output.is_inverse)


class _Body(PlanReassignmentRequest):
    snapshot_id: None = None  # type: ignore[assignment] # the one field of a request that does not apply to files


def _checked(body: Json) -> ReassignmentRequest:
    try:
        return _Body.model_validate(body).service()
    except ValidationError as invalid:
        errors = [
            field_error(dict(error, loc=("body", *error["loc"])), body) for error in invalid.errors(include_url=False)
        ]
    raise InvalidField(first_of(errors, total=len(errors)), errors=errors)


def _without_none(**members: Json) -> dict[str, Json]:
    """The members that are not None; the API has defaults for the others."""
    return {name: value for name, value in members.items() if value is not None}


def _balance(text: str | None) -> Json:
    """A word, or a tolerance; the API rejects anything else."""
    try:
        return None if text is None else {"tolerance": float(text)}
    except ValueError:
        return text


def _broker(text: str) -> dict[str, Json]:
    number, _, rack = text.partition(":")
    if not _NUMBER.fullmatch(number):
        raise ConflictingFields(f"--add-broker is {text}; it has to be id:rack, or an id", path=("add_brokers",))
    return {"id": int(number)} | ({"rack": rack} if ":" in text else {})


def _pairs(option: str, texts: Sequence[str]) -> dict[str, Json]:
    numbers: dict[str, Json] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or not _NUMBER.fullmatch(number):
            form = "old=new, two ids" if option == "replace-broker" else "topic=number"
            raise ConflictingFields(f"--{option} is {text}; it has to be {form}", path=(option,))
        if name in numbers:
            raise ConflictingFields(f"--{option} names {name} twice", path=(option,))
        numbers[name] = int(number)
    return numbers
