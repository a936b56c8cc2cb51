"""`rackplan check` and `rackplan diff`: a cluster beside conditions, and beside topics as they are to be."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson
import typer

from app.cli import gate_files, plan_options, planning, summaries
from app.cli.gate_files import Place
from app.cli.output import VIOLATIONS, hand_over, read_input, table
from app.cli.planning import json_of, validated
from app.core.model import Cluster
from app.errors import Json
from app.errors.quotation import escaped
from app.errors.requests import ConflictingFields, IllegalReassignment, MalformedText
from app.formats.kafka_files import reassignment_output
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.sources import desired_topics
from app.formats.syntax.lines import decode, rejection
from app.formats.syntax.quantities import share
from app.services import checks
from app.services.checks import Check, Differences, Health, HealthRequest, Outcome, Subject, TopicDifference
from app.services.plans import Allowance
from app.services.reassignment.requests.parts import ResourceFields
from app.settings import Settings

_JSON = orjson.OPT_NON_STR_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
RACKS_OF_A_LOSS = 3
"""The fewest racks of a cluster that is to survive the loss of one."""

_UNSTATED = HealthRequest()
ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True)
class Gate:
    """Input of a check, and the conditions under which it fails.

    Parameters
    ----------
    files : that describe the cluster.
    reassignments : files for Kafka, outputs of `--generate`, or plans' JSON, which are one reassignment together; the
        cluster as it is without any.
    desired : files of topics as they are to be, or folders of such files.
    fail_on : conditions; see `app.services.checks.conditions`.
    request : resources of the cluster, and limits of a reassignment.
    """

    files: Sequence[Path] = ()
    reassignments: Sequence[Path] = ()
    desired: Sequence[Path] = ()
    fail_on: Sequence[str] = ()
    merge_running: bool = True
    kafka_version: str | None = None
    request: HealthRequest = _UNSTATED


@dataclass(frozen=True, slots=True)
class Verdict:
    """A check, differences from a desired state if one is given, and the results of the conditions.

    Parameters
    ----------
    undecided : partitions whose unknown `min.insync.replicas` leaves out a usual condition, or 0.
    places : of the topics that files state. place : of everything else.
    """

    cluster: str
    check: Check
    differences: Differences | None
    outcomes: Sequence[Outcome]
    undecided: int
    places: Mapping[str, Place]
    place: Place

    @property
    def fails(self) -> bool:
        """Whether a condition makes the check fail."""
        return any(outcome.fails for outcome in self.outcomes)

    def as_json(self) -> bytes:
        """The API's document of the check with `cluster`, `differences`, `conditions` and `passed`."""
        conditions: list[Json] = [
            {"condition": outcome.condition.text, "value": outcome.value, "passed": not outcome.fails}
            for outcome in self.outcomes
        ]
        compared: Mapping[str, Json] = {} if self.differences is None else self.differences.as_json()
        document = {
            "cluster": self.cluster,
            "passed": not self.fails,
            "conditions": conditions,
            "undecided": ["unwritable_after_broker_loss"] if self.undecided else [],
            **self.check.as_json(),
            **compared,
        }
        return orjson.dumps(document, option=_JSON)

    def as_junit(self) -> bytes:
        """JUnit's XML."""
        found = [violation.detail for violation in self.check.violations]
        found += [f"{one.topic}: {one.detail}" for one in (self.differences or Differences(())).differences]
        return gate_files.junit(self.cluster, list(self.outcomes), found)

    def as_sarif(self) -> bytes:
        return gate_files.sarif(self.check, self.differences, list(self.outcomes), self.places, self.place)

    def show(self) -> None:
        """Print violations, differences, warnings and the conditions as tables."""
        summaries.violations([asdict(violation) for violation in self.check.violations])
        if self.check.health is not None:
            show_health(self.check.health)
        if self.differences is not None:
            show_differences(self.differences)
        for caution in self.check.cautions:
            typer.echo(f"warning: {caution.code}: {escaped(caution.detail)}")
        if self.undecided:
            typer.echo(
                f"not decided: unwritable_after_broker_loss, as min.insync.replicas of {self.undecided} partitions is "
                "unknown; defaults in --request state it"
            )
        rows = [
            (outcome.condition.text, f"{outcome.value:g}", "fails" if outcome.fails else "passes")
            for outcome in self.outcomes
        ]
        table(("condition", "value", "result"), rows, title=f"check of {escaped(self.cluster)}")


def check(cluster: Cluster, gate: Gate) -> Verdict:
    """Check a cluster, or a reassignment of it, and compare it with the desired topics.

    Raises the errors of reading the files, `IllegalReassignment`, and `ConflictingFields` for an unknown condition.
    """
    malformed: list[MalformedText] = []
    wanted = list(_read(_desired_files(gate.desired), desired_topics.read, malformed))
    given = list(_read(gate.reassignments, _reassignment, malformed))
    _require_none(malformed)
    desired = [topic for _, topics in wanted for topic in topics]
    request = replace(gate.request, placement={**checks.placement_of(desired), **gate.request.placement})
    gate = replace(gate, request=request)
    checked = _checked(cluster, gate, given)
    differences = checks.compare(cluster, desired) if desired else None
    before = checks.losses_before(cluster, _together(given), request) if given else None
    subject = Subject(checked, None if differences is None else len(differences.differences), before)
    conditions = checks.conditions(gate.fail_on or list(_default_conditions(gate, subject)))
    places = {each.topic: Place(str(file)) for file, one in given for each in one.partitions}
    places |= {topic.name: Place(str(file), topic.line) for file, topics in wanted for topic in topics}
    outcomes = [condition.outcome(subject) for condition in conditions]
    place = Place(next((str(file) for file in (*gate.reassignments, *gate.files, *gate.desired)), "cluster"))
    return Verdict(cluster.name, checked, differences, outcomes, _undecided(gate, subject), places, place)


def _undecided(gate: Gate, subject: Subject) -> int:
    """Partitions whose unknown `min.insync.replicas` leaves out a condition of a cluster as it is."""
    losses = subject.check.measures.losses
    is_usual = not gate.fail_on and subject.losses_before is None
    return losses.min_isr_unknown if is_usual and losses is not None else 0


def _default_conditions(gate: Gate, subject: Subject) -> Iterator[str]:
    """The conditions for the gate's input: violations, and losses as far as they can be decided."""
    yield "violations"
    if subject.losses_before is None:
        losses = subject.check.measures.losses
        # With two racks the larger part of three replicas is in one of them, so that its loss cannot be survived.
        has_racks = losses is not None and len(losses.racks) >= RACKS_OF_A_LOSS and not gate.request.placement
        for lost in ("broker", "rack") if has_racks else ("broker",):
            yield f"offline_after_{lost}_loss"
            if not _undecided(gate, subject):
                yield f"unwritable_after_{lost}_loss"
    elif not gate.request.allow_lower_factor:
        yield "worse_after_loss"
    if subject.differences is not None:
        yield "differences"
    if gate.request.limits.stated() or gate.request.limits.log_dirs is not None:
        yield "over_limit"


def _together(given: Sequence[tuple[Path, Reassignment]]) -> Reassignment:
    return Reassignment(tuple(each for _, one in given for each in one.partitions))


def _checked(cluster: Cluster, gate: Gate, given: Sequence[tuple[Path, Reassignment]]) -> Check:
    """The check of a cluster, or of the reassignments of files together."""
    allowance = Allowance(Settings().limits, is_job=True)
    if not given:
        if gate.request.allow_lower_factor:
            detail = "allow_lower_factor is about a reassignment; state --reassignment, or leave it out"
            raise ConflictingFields(detail, path=("allow_lower_factor",))
        return checks.check_cluster(cluster, gate.kafka_version, gate.request, allowance)
    running: Literal["merge", "refuse"] = "merge" if gate.merge_running else "refuse"
    try:
        return checks.check_reassignment(
            cluster, _together(given), running, gate.kafka_version, gate.request, allowance
        )
    except IllegalReassignment as illegal:
        _name_files(illegal, given)
        raise


def request_of(
    limits: Sequence[str], capacity: Sequence[str], request: Path | None, *, allow_lower_factor: bool
) -> HealthRequest:
    """Resources and limits, as options and a file of the API's request state them.

    Raises `ConflictingFields` for an unknown limit, `MalformedText`, and the errors of the API's model.
    """
    options = {"limit": limits, "capacity": capacity}
    fields = {name: plan_options.OF_KIND["reassignment"][name] for name in options}
    body = planning.body_of(plan_options.fields_of(options, fields), request)
    return HealthRequest(**vars(validated(ResourceFields, body)), allow_lower_factor=allow_lower_factor)


def report(
    verdict: Verdict, *, output: Path | None, junit: Path | None, sarif: Path | None, losses: Path | None, as_json: bool
) -> None:
    """Write a verdict, and end the command with code 3 if it fails.

    Raises `OutputNotWritable`, `LimitExceeded`, and `ConflictingFields` for losses of a reassignment without resources.
    """
    if losses is not None:
        if verdict.check.health is None:
            detail = "losses of a reassignment need the resources of the cluster: --limit or --request"
            raise ConflictingFields(detail, path=("losses",))
        hand_over(verdict.check.health.losses_csv(), losses)
    for file, written in ((junit, verdict.as_junit), (sarif, verdict.as_sarif), (output, verdict.as_json)):
        if file is not None:
            hand_over(written(), file)
    if as_json:
        hand_over(verdict.as_json(), None)
    elif Path("-") not in (junit, sarif, output):
        verdict.show()
    if verdict.fails:
        sys.stdout.flush()
        raise typer.Exit(VIOLATIONS)


def diff(cluster: Cluster, desired: Sequence[Path]) -> Differences:
    """Compare a cluster with desired topics. Raises the errors of reading the files."""
    malformed: list[MalformedText] = []
    wanted = list(_read(_desired_files(desired), desired_topics.read, malformed))
    _require_none(malformed)
    return checks.compare(cluster, [topic for _, topics in wanted for topic in topics])


def report_differences(differences: Differences, *, output: Path | None, request: Path | None, as_json: bool) -> None:
    """Write the differences, and the request for the reassignment that removes them. Raises `OutputNotWritable`."""
    document = orjson.dumps(differences.as_json(), option=_JSON)
    if request is not None:
        hand_over(orjson.dumps(differences.request or {}, option=_JSON), request)
    if output is not None:
        hand_over(document, output)
    if as_json:
        hand_over(document, None)
        return
    show_differences(differences)
    if differences.new_topics:
        topics = ",".join(
            f"{topic['name']}:{topic['partitions']}:{topic['replication_factor']}" for topic in differences.new_topics
        )
        typer.echo(f"new topics: rackplan plan replicas --topic {topics}")
    if differences.request is not None and request is not None:
        typer.echo(f"least movement: rackplan plan reassignment --request {request}")


def show_differences(differences: Differences) -> None:
    """Print the differences as a table, or that there are none."""
    if not differences.differences:
        typer.echo("the desired topics are as they are to be")
        return
    rows = [(one.topic, one.field, one.detail, _remedy(one)) for one in differences.differences]
    table(("topic", "field", "difference", "remedy"), rows)


def show_health(health: Health) -> None:
    """Print the exceeded limits, the first failures, and the least repair."""
    over = [(one.broker, one.resource, one.value, one.limit) for one in health.over_limit]
    if over:
        table(("broker", "resource", "value", "limit"), over, title="above a limit")
    directories = [(one.broker, one.log_dir, one.value, one.limit) for one in health.log_dirs_over_limit or ()]
    if directories:
        table(("broker", "log directory", "bytes", "limit"), directories, title="log directories above a limit")
    first = [(one.loss, one.broker, one.resource, one.value, one.limit, share(one.share)) for one in health.fails_first]
    if first:
        table(("loss", "broker", "resource", "value", "limit", "share"), first, title="fails first")
    repair = health.repair
    if repair is not None and repair.moved_replicas:
        typer.echo(
            f"least repair: {repair.moved_replicas} replicas, {repair.moved_bytes} bytes; at least "
            f"{repair.lower_bound_bytes} bytes"
        )


def _remedy(difference: TopicDifference) -> str:
    if not difference.is_planned:
        return "none"
    return "new topic" if difference.field == "topic" else "reassignment"


def _read(
    files: Iterable[Path], read: Callable[[str], ReadT], malformed: list[MalformedText]
) -> Iterator[tuple[Path, ReadT]]:
    """Each file's content; the failure of an unreadable one names the file and is collected."""
    for file in files:
        try:
            yield file, read(decode(read_input(file), file.name))
        except MalformedText as failure:
            malformed.append(failure.relocated(line=failure.line, source=str(file), path=failure.path))


def _require_none(malformed: Sequence[MalformedText]) -> None:
    """Raise the first failure, with all of them as its errors."""
    if malformed:
        malformed[0].context["errors"] = [{"detail": failure.detail} for failure in malformed]
        raise malformed[0]


def _name_files(illegal: IllegalReassignment, given: Sequence[tuple[Path, Reassignment]]) -> None:
    """Add to each error of several files' partitions together the file of its partition."""
    files = [str(file) for file, one in given for _ in one.partitions]
    errors: Any = illegal.context["errors"]
    named = [{**each, "detail": f"{files[int(each['pointer'].split('/')[3])]}: {each['detail']}"} for each in errors]
    illegal.detail = illegal.detail.replace(errors[0]["detail"], named[0]["detail"])
    illegal.context["errors"] = named


def _desired_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files, and the YAML files of folders."""
    for path in paths:
        yield from (
            sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml")) if path.is_dir() else [path]
        )


def _reassignment(text: str) -> Reassignment:
    """The reassignment of a file for Kafka, of the output of `--generate` or `--execute`, or of a plan's JSON."""
    if '"first_partition_id"' not in text:
        printed = reassignment_output.read(text)
        if printed.reassignment is None:
            raise rejection(1, expected="a reassignment", actual="the output of --verify, which has no lists")
        for note in printed.notes:
            typer.echo(f"rackplan: warning: {escaped(note.detail)}", err=True)
        return printed.reassignment
    plan: Any = json_of(text, "reassignment")
    return Reassignment(
        tuple(
            PartitionReassignment(topic["name"], partition, tuple(replicas))
            for topic in plan["topics"]
            for partition, replicas in enumerate(topic["replicas"], start=topic["first_partition_id"])
        )
    )
