"""`rackplan plan reassignment`: a change from options or from a file, planned and written.

Both become the body of `POST /v1/plans/reassignment` and are validated by its model, so the rules of a field are in one
place. There is no snapshot; the cluster is that of the texts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
class Output:
    """The format of the output: the API's JSON if `export` is None; `batch`, `is_inverse`: of one batch."""

    export: str | None = None
    batch: int | None = None
    is_inverse: bool = False


def request_of(options: Mapping[str, Any], file: Path | None) -> ReassignmentRequest:
    """The request to the service, from the options, or from the file if there is one.

    Parameters
    ----------
    options : of the command, by parameter; those that are not about the change are not read.

    Raises
    ------
    ConflictingFields : there are options and a file, or an option does not have its form.
    MalformedText : the file is not JSON.
    InvalidField : a field of the file, or an option, is invalid.
    """
    typed = {name: options[name] for name in _FIELDS if _is_typed(options[name])}
    if file is None:
        return _checked(_body(typed))
    if typed:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in typed)
        detail = f"a request file replaces the options; {names} and --request exclude each other"
        raise ConflictingFields(detail, path=("request",))
    text = decode(file.read_bytes(), "request")
    try:
        body: Json = orjson.loads(text)
    except orjson.JSONDecodeError as wrong:
        raise rejection(wrong.lineno, expected="a request in JSON", actual=wrong.msg, path=("request",)) from None
    for name in ("snapshot_id", "cluster"):
        if isinstance(body, Mapping) and name in body:
            detail = f"snapshots belong to a service, and this cluster is that of the texts; leave {name} out"
            raise ConflictingFields(detail, path=(name,))
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
    # The fields of a request that do not apply to files.
    requires_snapshot = False
    snapshot_id: None = None
    cluster: None = None


def _checked(body: Json) -> ReassignmentRequest:
    try:
        return _Body.model_validate(body).service()
    except ValidationError as invalid:
        errors = [
            field_error(dict(error, loc=("body", *error["loc"])), body) for error in invalid.errors(include_url=False)
        ]
    raise InvalidField(first_of(errors, total=len(errors)), errors=errors)


def _is_typed(value: object) -> bool:
    return value is not None and value is not False and value not in ((), [])


def _body(typed: Mapping[str, Any]) -> Json:
    """The body of the request. Raises `ConflictingFields` if an option does not have its form."""
    body: dict[str, Any] = {}
    for name, value in typed.items():
        path, read = _FIELDS[name]
        *outer, last = path.split(".")
        (body.setdefault(outer[0], {}) if outer else body)[last] = read(value)
    return body


def _balance(text: str) -> Json:
    """A word, or a tolerance; the API rejects anything else."""
    try:
        return {"tolerance": float(text)}
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


def _as_typed(value: Json) -> Json:
    return value


_FIELDS: Mapping[str, tuple[str, Callable[[Any], Json]]] = MappingProxyType(
    {
        "add_broker": ("add_brokers", lambda texts: [_broker(text) for text in texts]),
        "remove_broker": ("remove_brokers", list),
        "remove_rack": ("remove_racks", list),
        "replace_broker": ("replace_brokers", lambda texts: _pairs("replace-broker", texts)),
        "forbid_broker": ("forbid_brokers", list),
        "replication_factor": ("replication_factor", lambda texts: _pairs("replication-factor", texts)),
        "partitions": ("partitions", lambda texts: _pairs("partitions", texts)),
        "topic": ("topics", list),
        "leaders_only": ("leaders_only", _as_typed),
        "fix_offline_replicas": ("fix_offline_replicas", _as_typed),
        "rack_mode": ("rack_mode", _as_typed),
        "balance": ("balance.replicas", _balance),
        "balance_by": ("balance.replicas_by", _as_typed),
        "leaders": ("balance.leaders", _balance),
        "minimise": ("minimise", _as_typed),
        "max_moved_bytes": ("max_moved_bytes", _as_typed),
        "trade_off": ("trade_off", _as_typed),
        "merge_running": ("running_reassignment", lambda _: "merge"),
        "relax": ("on_conflict", lambda _: "relax"),
        "max_moves_in_per_broker": ("batches.max_moves_in_per_broker", _as_typed),
        "kafka_version": ("kafka_version", _as_typed),
        "throttle": ("batches.throttle_bytes_per_s", _as_typed),
    }
)
"""By option: the field of the body, and how the option is read."""
