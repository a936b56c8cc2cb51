"""`README.txt` of an archive: in which order its files are executed, with the commands and the check of each step.

If brokers are cordoned or removed, everything is a numbered step: since Kafka 4.3.2 a batch whose lists contain a
cordoned broker is executed while the broker is uncordoned, and a removed broker is cordoned (since 4.3), drained, shut
down and unregistered.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.kafka_versions import NEWEST, SUPPORTED, KafkaVersion
from app.core.measures.transfers import Transfers
from app.core.model import LISTS_CHECKED_SINCE, Assignment, Cluster, control_in
from app.errors.quotation import escaped
from app.errors.requests import NotExportable
from app.formats.kafka_files.topic_script import altered_topic
from app.formats.syntax.quantities import byte_size, counted, known_size
from app.formats.tables.load_tables import fullest
from app.formats.tables.reassignment_diffs import sentences
from app.services.reassignment.files.stored_steps import StoredSteps
from app.store.records import NewPlan, PlanHead

_BOOTSTRAP = "--bootstrap-server localhost:9092"
_REASSIGN = f"kafka-reassign-partitions.sh {_BOOTSTRAP} --reassignment-json-file"
_ELECT = f"kafka-leader-election.sh {_BOOTSTRAP} --election-type preferred --path-to-json-file leader-election.json"
_NEW_STAY = "Partitions that were created stay: Kafka removes none."
_SCRIPT = [
    "run.sh executes the batches with Kafka's tools, stops at the first failure, and goes on where it stopped:",
    "  KAFKA_BOOTSTRAP=localhost:9092 bash run.sh",
    "With --dry-run it prints what it would do; with --rollback it goes back. Its first lines list its settings.",
    "To do by hand what it does:",
]
_IN_ORDER = "Run these steps in order; complete each one before the next."
_SAME_FACTORS = [
    "No replication factor changes. If --execute has the option --disallow-replication-factor-change, Kafka 4.1",
    "and later rejects a batch that would change one (KIP-860).",
]
_RELEASE_UNKNOWN = (
    f"Neither the request nor the snapshot states a release of Kafka: the steps are those of {SUPPORTED.to}."
)
_TO_GO_BACK = [
    "To go back, execute and verify the rollback file of each batch that was begun, the last one first, or",
    "rollback.json for all of them at once:",
]
_NO_CANCEL = [
    "If a batch still runs, cancel it first: with its own file, and --cancel in place of --execute. Kafka never",
    "completes a list that is to lose a replica which is still being added. --cancel alone is not enough: it restores",
    "which brokers have replicas, but not their order, and with it not the preferred leaders. Where these change back,",
    "they need an election again.",
]
_NOTHING_BACK = (
    "Nothing is reassigned: there is no batch, and no rollback to execute. Kafka rejects a file without partitions."
)
_LOG_DIRS = [
    'In log_dirs, "any" leaves a replica in its directory, and a path moves it there, or creates it there. --verify',
    "reports these moves, too. For a replica that is yet to be created, --execute waits for its broker: --timeout says",
    "for how long.",
]
_ADDITIONAL = [
    "Another reassignment was running when the snapshot was taken. While it runs, Kafka rejects --execute without",
    "--additional; with it, the lists of a file replace those that its partitions are moving to. Do not --cancel the",
    "other one first: the plan starts from where it leads, and cancelling would move its replicas back.",
]
_STATIC_CORDON = (
    "If the broker's own properties file has cordoned.log.dirs, --add-config cordoned.log.dirs= lifts it instead."
)
UNREGISTERS_SINCE, LISTS_ENDPOINTS_SINCE = KafkaVersion(2, 8), KafkaVersion(4, 0)
"""The first releases with `kafka-cluster unregister` (of KRaft) and `kafka-cluster list-endpoints` (KIP-1073)."""
KEEPS_FACTORS_SINCE = KafkaVersion(4, 1)
"""The first release with `kafka-reassign-partitions --disallow-replication-factor-change` (KIP-860)."""


def write(
    head: PlanHead | NewPlan,
    cluster: Cluster,
    moved: Transfers,
    steps: StoredSteps,
    grown: Mapping[str, Assignment],
    *,
    has_election: bool,
) -> str:
    """The text. `grown` has the topics that get partitions, with all of these."""
    answer: Any = head.answer
    request: Any = head.request
    stated = KafkaVersion.of(request["kafka_version"]) if request.get("kafka_version") else None
    plan = _Batches(answer, steps, request["batches"]["throttle_bytes_per_s"], stated)
    removed = sorted({*request["remove_brokers"], *map(int, request.get("replace_brokers") or ())})
    title = "Reassignment" + (f" of the cluster {escaped(head.cluster)}" if head.cluster else "")
    near = fullest(answer.get("loads") or {})
    parts = [
        [title, f"Plan {head.hash}"],
        sentences(moved, answer.get("log_dirs")),
        *([["After the plan, nearest to its limit or capacity:", *(f"  {each}" for each in near)]] if near else []),
        *([_SCRIPT] if len(steps) or grown else []),
        [_IN_ORDER],
        *([["Create the new partitions:", *_creating(grown)]] if grown else []),
    ]
    new_stay = [_NEW_STAY] if grown else []
    if answer.get("execution") is None and not removed:
        *before, back = _unnumbered(plan, has_election=has_election)
        parts += [*before, [*back, *new_stay]]
    else:
        parts += [*_numbered(plan, cluster, removed, has_election=has_election), *([new_stay] if new_stay else [])]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Batches:
    """The batches of a stored plan, and how they are executed.

    Parameters
    ----------
    stated : the release that the plan is made for; None if it is only assumed.
    """

    answer: Any
    steps: StoredSteps
    throttle: int | None
    stated: KafkaVersion | None

    @property
    def _throttles(self) -> str:
        return throttles(self.throttle, has_log_dirs=self.steps.has_log_dirs)

    def warns(self, code: str) -> bool:
        """Whether the answer has a warning of this code."""
        return any(warning["code"] == code for warning in self.answer["warnings"])

    def commands(self, how: str) -> list[str]:
        """The commands of a batch."""
        is_merged, keeps_factors = self.warns("merged_with_running_reassignment"), self.steps.keeps_factors
        options = " --additional" * is_merged + self._throttles
        has_option = keeps_factors and self.stated is not None and self.stated >= KEEPS_FACTORS_SINCE
        if has_option:
            options += " --disallow-replication-factor-change"
        lines = [
            f"{how}; repeat the second one until all is complete:",
            f"  {_REASSIGN} 01-execute.json --execute{options}",
            f"  {_REASSIGN} 01-execute.json --verify",
        ]
        if is_merged:
            lines += _ADDITIONAL
        if self.throttle:
            size = byte_size(self.throttle)
            lines.append(f"The throttle is {size}/s; --verify takes it away when the batch is complete.")
        if self.steps.has_log_dirs:
            lines += _LOG_DIRS
        if has_option:
            lines.append("No replication factor changes, and Kafka rejects a batch that would change one (KIP-860).")
        elif keeps_factors and self.stated is None:
            lines += _SAME_FACTORS
        return lines

    def sizes(self) -> Iterator[str]:
        """What each batch copies, and for how long."""
        for number, batch in enumerate(self.answer["batches"]):
            if not batch["moves_data"]:
                partitions = self.steps.batch(number)
                words = f"{counted(partitions.stop - partitions.start, 'partition')} reordered, nothing copied"
            else:
                words = ", and ".join(_copies(batch))
            if number >= len(self.steps) - self.steps.waiting:
                words += ", once the brokers that it waits for are back"
            seconds = batch["seconds"]
            yield words + (f", {max(round(seconds), 1):,} s at the throttle" if seconds else "")

    def back_at_any_time(self) -> list[str]:
        """How to go back, also while a batch runs."""
        return [
            *_TO_GO_BACK,
            f"  {_REASSIGN} rollback.json --execute --additional{self._throttles}",
            f"  {_REASSIGN} rollback.json --verify",
            *_NO_CANCEL,
        ]


def _unnumbered(plan: _Batches, *, has_election: bool) -> Iterator[list[str]]:
    """The parts of a plan without cordoned and removed brokers; the last one is how to go back."""
    if len(plan.steps):
        files = zip(names(plan.steps), plan.sizes(), strict=True)
        yield ["Run the batches:", *(f"  {name}-execute.json  {size}" for name, size in files)]
        yield plan.commands("each with these two commands")
    if has_election:
        yield ["Let the preferred leaders lead, once all batches are complete:", f"  {_ELECT}"]
    yield plan.back_at_any_time() if len(plan.steps) else [_NOTHING_BACK]


def _numbered(plan: _Batches, cluster: Cluster, removed: Sequence[int], *, has_election: bool) -> Iterator[list[str]]:
    """The parts of a plan with cordoned or removed brokers: numbered steps, their commands, and how to go back."""
    if plan.stated is None:
        yield [_RELEASE_UNKNOWN]
    numbered, execution = _Numbered(cluster, names(plan.steps)), plan.answer.get("execution")
    plain = [{"action": "execute", "batch": number} for number in range(1, len(plan.steps) + 1)]
    yield list(numbered.executed(plain if execution is None else execution["batches"], list(plan.sizes())))
    if has_election:
        yield list(numbered.step("Let the preferred leaders lead.", _ELECT))
    if removed:
        is_in_use = plan.warns("removed_brokers_in_use")
        yield list(numbered.removed(removed, plan.stated or NEWEST, is_in_use=is_in_use))
    if len(plan.steps):
        yield plan.commands("Execute and verify a file with these two commands")
        yield [*plan.back_at_any_time(), *(() if execution is None else numbered.back(execution))]
    else:
        yield [_NOTHING_BACK]


def names(steps: StoredSteps) -> list[str]:
    """The numbers of batches as their files have them."""
    width = max(len(str(len(steps))), 2)
    return [f"{number:0{width}d}" for number in range(1, len(steps) + 1)]


def cordoned_log_dirs(cluster: Cluster, broker: int) -> str:
    """The value of the setting that cordons a broker as it was, or whole.

    Raises `NotExportable` for a path with a control character, which snapshots once accepted.
    """
    cordon = cluster.cordons.get(broker)
    if cordon is None or not cordon.log_dirs:
        return "*"
    value = f"[{','.join(cordon.log_dirs)}]"
    if (control := control_in(value)) is not None:
        detail = f"a cordoned log directory of broker {broker} has {control}, which may end a line of a script"
        raise NotExportable(detail, broker=broker, value=value)
    return value


class _Numbered:
    """Steps with their numbers, each with its commands and its check."""

    def __init__(self, cluster: Cluster, files: Sequence[str]) -> None:
        self._cluster, self._files = cluster, files
        self._last = 0

    def step(self, what: str, *commands: str, check: Sequence[str] = ()) -> Iterator[str]:
        self._last += 1
        yield f"{self._last:3d}. {what}"
        for command in commands:
            yield f"       {command}"
        for at, line in enumerate(check):
            yield f"     {'Check: ' if not at else '  '}{line}"

    def executed(
        self, steps: Sequence[Mapping[str, Any]], sizes: Sequence[str] = (), *, file: str = "execute"
    ) -> Iterator[str]:
        for step in steps:
            if step["action"] != "execute":
                yield from self._cordoned(step["action"], step["brokers"])
            else:
                number = step["batch"] - 1
                size = f": {sizes[number]}" if sizes else ""
                yield from self.step(f"Execute and verify {self._files[number]}-{file}.json{size}.")

    def _cordoned(self, action: str, brokers: Sequence[int]) -> Iterator[str]:
        commands = [self._cordon(broker) if action == "cordon" else _uncordon(broker) for broker in brokers]
        named = ", ".join(map(str, brokers))
        plural = "s" if len(brokers) > 1 else ""
        shows = "prints cordoned.log.dirs" if action == "cordon" else "prints no cordoned.log.dirs"
        check = f"kafka-configs.sh {_BOOTSTRAP} --describe --entity-type brokers --entity-name {brokers[0]}"
        why = (
            "Kafka places nothing new there"
            if action == "cordon"
            else f"Kafka {LISTS_CHECKED_SINCE} and later reject lists with a cordoned broker"
        )
        lines = [check, shows + (", and so for the others" if plural else "")]
        yield from self.step(f"{action.capitalize()} broker{plural} {named}: {why}.", *commands, check=lines)
        if action == "uncordon":
            yield f"     {_STATIC_CORDON}"

    def _cordon(self, broker: int) -> str:
        setting = f"cordoned.log.dirs={cordoned_log_dirs(self._cluster, broker)}"
        return f"{_CONFIGURE} {broker} --add-config {shlex.quote(setting)}"

    def removed(self, brokers: Sequence[int], version: KafkaVersion, *, is_in_use: bool) -> Iterator[str]:
        ids = ",".join(map(str, brokers))
        plural = "s" if len(brokers) > 1 else ""
        if is_in_use:
            yield f"Broker{plural} {ids}: topics that the plan does not move still have replicas there. Once these have"
            yield "moved as well:"
        yield from self.step(
            f"Verify that nothing is left on broker{plural} {ids}.",
            f"kafka-log-dirs.sh {_BOOTSTRAP} --describe --broker-list {ids}",
            check=['every "partitions" is []'],
        )
        endpoints = f"kafka-cluster.sh list-endpoints {_BOOTSTRAP}"
        is_listed = version >= LISTS_ENDPOINTS_SINCE
        listing = endpoints if is_listed else f"kafka-broker-api-versions.sh {_BOOTSTRAP}"
        yield from self.step(
            f"Shut down broker{plural} {ids}, on {'their' if plural else 'its'} own machine{plural}.",
            "kafka-server-stop.sh",
            check=[listing, f"no longer lists {ids}"],
        )
        if version >= UNREGISTERS_SINCE:
            fenced = f"{endpoints} --include-fenced-brokers" if is_listed else listing
            yield from self.step(
                f"Unregister broker{plural} {ids}{'' if is_listed else ', in a cluster of KRaft'}.",
                *(f"kafka-cluster.sh unregister {_BOOTSTRAP} --id {broker}" for broker in brokers),
                check=[fenced, f"no longer lists {ids}"],
            )

    def back(self, execution: Mapping[str, Any]) -> Iterator[str]:
        """How to lift the cordons of the rollback files, if there are any."""
        if all(step["action"] == "execute" for step in execution["rollback"]):
            return
        uncordoned, again = (
            sorted(
                {
                    broker
                    for step in execution["rollback_at_once"]
                    if step["action"] == action
                    for broker in step["brokers"]
                }
            )
            for action in ("uncordon", "cordon")
        )
        yield ""
        yield "The rollback files have lists with cordoned brokers. To go back from the end, batch by batch:"
        yield from self.executed(execution["rollback"], file="rollback")
        after = f", and cordon {', '.join(map(str, again))} after it." if again else "."
        yield f"Before rollback.json, uncordon {', '.join(map(str, uncordoned))} in the same way{after}"


_CONFIGURE = f"kafka-configs.sh {_BOOTSTRAP} --alter --entity-type brokers --entity-name"


def _uncordon(broker: int) -> str:
    return f"{_CONFIGURE} {broker} --delete-config cordoned.log.dirs"


def throttles(throttle: int | None, *, has_log_dirs: bool) -> str:
    """The options of `--execute` that throttle copies between brokers, and between the log directories of one."""
    if not throttle:
        return ""
    return f" --throttle {throttle}" + (f" --replica-alter-log-dirs-throttle {throttle}" if has_log_dirs else "")


def _creating(grown: Mapping[str, Assignment]) -> Iterator[str]:
    for topic, assignment in grown.items():
        yield f"  kafka-topics.sh {_BOOTSTRAP} --alter --topic {altered_topic(topic)} \\"
        yield f"    --partitions {len(assignment.partition_ids)} \\"
        yield f'    --replica-assignment "$(cat {shlex.quote(f"new-partitions/{topic}.txt")})"'


def _copies(batch: Mapping[str, Any]) -> Iterator[str]:
    """What a batch copies between brokers, and between log directories."""
    unknown, replicas, within = batch["unknown_size_replicas"], batch["moved_replicas"], batch.get("log_dir_moves", 0)
    if replicas or not within:
        yield f"{counted(replicas, 'replica')}, {known_size(batch['moved_bytes'], replicas=replicas, unknown=unknown)}"
    if within:
        yield f"{counted(within, 'replica')} between log directories, {byte_size(batch['log_dir_moved_bytes'])}"
