"""`rackplan plan …`: the plans of the service, from files."""

# As in `app.main`: collections while importing would find nothing to free.
import gc

gc.disable()

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from app.core.groups.registry import ASSIGNORS
from app.core.keys.partitioners import PARTITIONERS
from app.core.model import Cluster, NewTopic
from app.core.replicas.awareness.rules import Policy
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.errors.requests import ConflictingFields, MalformedKey
from app.formats.assembly import assemble
from app.formats.lines import decode
from app.services import groups, keys, replicas
from app.services.keys import Encoding, KeysRequest, NullKeys
from app.services.plans import draft_plan
from app.services.plans.kinds import to_json
from app.services.replicas import EXPORTS, ReplicasRequest
from app.settings import Settings

gc.freeze()
gc.enable()


@dataclass(frozen=True, slots=True)
class Texts:
    """The files with the output of the Kafka tools."""

    brokers: Path | None
    topics: Path | None
    log_dirs: Path | None = None
    groups: Path | None = None

    def cluster(self, name: str) -> Cluster:
        """The cluster that the files describe. Raises `MalformedText`."""
        paths = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {part: decode(path.read_bytes(), part) for part, path in paths.items() if path is not None}
        return assemble(name, **{f"{part}_text": text for part, text in texts.items()}).cluster


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the command that choose a placement, as typed."""

    algorithm: str
    rack_mode: str | None = None
    fixed_start_index: int | None = None
    seed: int | None = None
    policy: str | None = None
    forced_racks: Sequence[str] = ()

    def request(self, topics: Sequence[NewTopic]) -> ReplicasRequest:
        """The request to the service. Raises `ConflictingFields` if a choice is unknown."""
        require("algorithm", self.algorithm, tuple(PLACEMENTS))
        require("rack-mode", self.rack_mode, tuple(RackMode))
        require("policy", self.policy, tuple(Policy))
        return ReplicasRequest(
            topics=topics,
            algorithm=self.algorithm,
            rack_mode=None if self.rack_mode is None else RackMode(self.rack_mode),
            fixed_start_index=self.fixed_start_index,
            seed=self.seed,
            options={
                name: value
                for name, value in (("policy", self.policy), ("forced", {"rack": self.forced_racks}))
                if value is not None and (name != "forced" or self.forced_racks)
            },
        )


def place(topics: list[str], *, texts: Texts, cluster: str, choices: Choices, export: str | None) -> bytes:
    """Place topics on the cluster that the files describe; the plan as the API writes it, or one of the exports.

    Raises what the service does, and `ConflictingFields` if the value of an option is unknown.
    """
    require("export", export, tuple(EXPORTS))
    request = choices.request([_topic(text) for text in topics])
    described = texts.cluster(cluster)
    plan = draft_plan(replicas.PLANNER, request, described, Settings().limits)
    if export is not None:
        return EXPORTS[export](plan, lambda: described)
    return printed(to_json(plan))


def predict_group(group: str, *, texts: Texts, cluster: str, assignors: Sequence[str], events: Sequence[str]) -> bytes:
    """Predict a group that the files describe; the plan as the API writes it.

    Raises what the service does, and `ConflictingFields` if the value of an option is unknown.
    """
    for name in assignors:
        require("assignor", name, tuple(ASSIGNORS))
    happening = [_event(text) for text in events]
    request = groups.PLANNER.restored(
        {"assignors": list(dict.fromkeys(assignors)), "group": group, "events": happening}
    )
    return printed(to_json(draft_plan(groups.PLANNER, request, texts.cluster(cluster), Settings().limits)))


def place_keys(
    file: Path,
    *,
    partitions: int,
    partitioners: Sequence[str],
    encoding: str,
    null_marker: str | None,
    compare_partitions: Sequence[int],
    null_keys: Mapping[str, Any] | None,
) -> bytes:
    """Find the partitions of the keys of a file, as the API writes them.

    A line is a key, an empty line an empty key, and a line equal to `null_marker` a record without key. `null_keys` are
    fields of `NullKeys`; None leaves such records unplaced.

    Raises what the service does, `MalformedKey` with the number of the line, and `ConflictingFields` if the value of an
    option is unknown.
    """
    require("encoding", encoding, tuple(Encoding))
    for name in partitioners:
        require("partitioner", name, tuple(PARTITIONERS))
    lines = [line.removesuffix("\r") for line in decode(file.read_bytes(), "keys").split("\n")]
    if lines[-1] == "":  # the end of the last line does not begin another one
        del lines[-1]
    request = KeysRequest(
        keys=[None if line == null_marker else line for line in lines],
        encoding=Encoding(encoding),
        partitioners=list(dict.fromkeys(partitioners)),
        partitions=partitions,
        compare_partitions=compare_partitions,
        null_keys=None if null_keys is None else NullKeys(**null_keys),
    )
    try:
        answer = keys.place_keys(request, Settings().limits)
    except MalformedKey as malformed:
        line = int(malformed.path[-1]) + 1
        raise MalformedKey(f"line {line}: {malformed.detail}", path=malformed.path, line=line) from None
    return printed(keys.to_json(answer))


def printed(document: bytes) -> bytes:
    """A document with indentation."""
    return orjson.dumps(orjson.loads(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def require(option: str, value: str | None, known: tuple[str, ...]) -> None:
    """Raise `ConflictingFields` if the value of an option is unknown."""
    if value is not None and value not in known:
        raise ConflictingFields(f"--{option} is {value}; it has to be one of {', '.join(known)}", path=(option,))


def _event(text: str) -> dict[str, str | bool]:
    name, _, value = text.partition("=")
    if name == "rolling_restart" and not value:
        return {name: True}
    if name in ("leave", "lose_rack") and value:
        return {name: value}
    detail = f"--event is {text}; it has to be leave=MEMBER, lose_rack=RACK or rolling_restart"
    raise ConflictingFields(detail, path=("event",))


def _topic(text: str) -> NewTopic:
    name, *numbers = text.split(":")
    if not name or len(numbers) not in (2, 3) or not all(part.lstrip("-").isdigit() for part in numbers):
        raise ConflictingFields(f"--topic is {text}; it has to be name:partitions:replication_factor", path=("topic",))
    return NewTopic(name, *map(int, numbers))
