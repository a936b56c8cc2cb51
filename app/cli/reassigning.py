"""`rackplan plan reassignment`: a change as it is typed or written in a file, planned and handed over.

Either way it becomes what `POST /v1/plans/reassignment` takes, and is read as that is: one place says what a field may
be. Nobody keeps a snapshot here; the cluster is what the texts say.
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
from app.errors import ConflictingFields, InvalidField, Json
from app.formats import topics_to_move as topics_file
from app.formats.lines import decode, refusal
from app.services.plans import BATCH, draft_plan, kinds
from app.services.reassignment import EXPORTS, PLANNER, ReassignmentRequest
from app.settings import Settings

_NUMBER = re.compile(r"-?[0-9]{1,18}")
"""What is passed on as a number; whether it is a possible one the API's models say."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The options of the command that say what is to change and how, as typed; what is falsy or None was not."""

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
    throttle: int | None = None

    def said(self) -> list[str]:
        """The options that were typed, as they are."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return [f"--{name.replace('_', '-')}" for name, value in values.items() if value not in (None, False, (), [])]

    def body(self) -> dict[str, Json]:
        """The same as a request's body. Raises `ConflictingFields` where an option is not of its form."""
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
            "balance": _told(
                replicas=_evenness(self.balance), replicas_by=self.balance_by, leaders=_evenness(self.leaders)
            ),
            "minimise": self.minimise,
            "max_moved_bytes": self.max_moved_bytes,
            "trade_off": self.trade_off,
            "running_reassignment": "merge" if self.merge_running else None,
            "on_conflict": "relax" if self.relax else None,
            "batches": _told(max_moves_in_per_broker=self.max_moves_in_per_broker, throttle_bytes_per_s=self.throttle),
        }
        return _told(**body)


@dataclass(frozen=True, slots=True)
class Handed:
    """How the plan is handed over: as the API writes it where `export` is None; `batch`, `inverse`: of one batch."""

    export: str | None = None
    batch: int | None = None
    is_inverse: bool = False


def asked(changes: Changes, file: Path | None) -> ReassignmentRequest:
    """What the service is asked: by the options, or by the file where there is one.

    Raises
    ------
    ConflictingFields : options and a file, or an option that is not of its form.
    MalformedText : the file is not JSON. InvalidField : a field of it, or an option, is not what it has to be.
    """
    if file is None:
        return _checked(changes.body())
    if typed := changes.said():
        detail = f"a request file says all that is asked; {', '.join(typed)} cannot stand beside --request"
        raise ConflictingFields(detail, path=("request",))
    text = decode(file.read_bytes(), "request")
    try:
        body: Json = orjson.loads(text)
    except orjson.JSONDecodeError as wrong:
        raise refusal(wrong.lineno, expected="a request in JSON", found=wrong.msg, path=("request",)) from None
    if isinstance(body, Mapping) and "snapshot_id" in body:
        detail = "a snapshot is kept by a service, and here the cluster is what the texts say; leave snapshot_id out"
        raise ConflictingFields(detail, path=("snapshot_id",))
    return _checked(body)


def topics_to_move(file: Path | None) -> tuple[str, ...]:
    """The topics that a file for Kafka's `--topics-to-move-json-file` names, none without a file.

    Raises
    ------
    MalformedText : the file is not such a document.
    """
    return () if file is None else topics_file.read(decode(file.read_bytes(), "topics_to_move"))


def reassign(request: ReassignmentRequest, *, texts: Texts, cluster: str, handed: Handed) -> bytes:
    """Plan the change of the cluster that the files describe; the plan as the API writes it, or one of the exports.

    Raises what the service does, and `ConflictingFields` where an option is none of those there are.
    """
    require("export", handed.export, (*EXPORTS, BATCH))
    if handed.export is None and (handed.batch is not None or handed.is_inverse):
        option = "inverse" if handed.batch is None else "batch"
        raise ConflictingFields(f"--{option} goes with --export {BATCH}", path=(option,))
    described = texts.cluster(cluster)
    plan = draft_plan(PLANNER, request, described, Settings().limits)
    if handed.export is None:
        return printed(kinds.to_json(plan))
    return kinds.write(plan, handed.export, lambda: described, batch=handed.batch, is_inverse=handed.is_inverse)


class _Body(PlanReassignmentRequest):
    snapshot_id: None = None  # type: ignore[assignment] # of a request's fields the one that files have no use for


def _checked(body: Json) -> ReassignmentRequest:
    try:
        return _Body.model_validate(body).service()
    except ValidationError as invalid:
        invalid_fields = [
            field_error(dict(error, loc=("body", *error["loc"])), body) for error in invalid.errors(include_url=False)
        ]
    raise InvalidField(first_of(invalid_fields, total=len(invalid_fields)), errors=invalid_fields)


def _told(**members: Json) -> dict[str, Json]:
    """What was said of them; what was left out is the API's to fill in."""
    return {name: value for name, value in members.items() if value is not None}


def _evenness(text: str | None) -> Json:
    """A word, or a tolerance; what is neither is left for the API to refuse."""
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
