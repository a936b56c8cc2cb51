"""The options of `rackplan plan …`.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import service
from app.cli.output import AsJson, deliver
from app.formats.syntax.garbage import uncollected

if TYPE_CHECKING:
    from app.cli.planning import Inputs
    from app.core.model import Cluster

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Texts of Kafka's tools, or a snapshot's JSON: any number in any order, recognized by their contents; "
        "`-` is standard input."
    ),
]
Snapshot = Annotated[
    str | None, typer.Option(help="A file of `rackplan snapshot`, or the id of a snapshot of the service.")
]
Brokers = Annotated[
    Path | None, typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.")
]
Topics = Annotated[Path | None, typer.Option(help="The output of kafka-topics --describe.")]
LogDirs = Annotated[Path | None, typer.Option(help="The output of kafka-log-dirs --describe.")]
Groups = Annotated[Path | None, typer.Option(help="kafka-consumer-groups --describe and the like, or groups as JSON.")]
Features = Annotated[Path | None, typer.Option(help="The output of kafka-features describe, or a broker's log.")]
ClusterName = Annotated[
    str | None,
    typer.Option(help="The cluster's name; without files, the newest snapshot that the service has of it."),
]
Capacity = Annotated[
    list[str] | None,
    typer.Option(help="Capacities, by commas: disk=BYTES, nic_in=, nic_out=BYTES_PER_S, cpu=, or 101:disk=BYTES."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(help="Limits of brokers, separated by commas: disk=0.8 of the capacity or disk=80%, replicas=4000."),
]
Request = Annotated[
    Path | None,
    typer.Option(
        help="The JSON of the API's request, without snapshot_id, or a KafkaRebalance, in place of its options."
    ),
]
KafkaVersion = Annotated[str | None, typer.Option(help="The release of Kafka, such as 4.2. Default: the snapshot's.")]
ExportFormat = Annotated[str | None, typer.Option(help="Print this format, such as csv; a wrong name lists all.")]
Output = Annotated[Path | None, typer.Option(help="Write to this file.", dir_okay=False)]
Url = Annotated[str | None, typer.Option(envvar="RACKPLAN_URL", help="Use the service at this address.")]

plan = typer.Typer(help="Make plans from files, or on a service.", no_args_is_help=True)


_OF_CLUSTERS = ("brokers", "topics", "log_dirs", "features")
_OF_GROUPS = ("groups", "topics", "brokers", "features")
_OF_RESULTS = ("kafka_version", "export", "output", "as_json", "url")


def _shared(
    files: Files = None,
    snapshot: Snapshot = None,
    brokers: Brokers = None,
    topics: Topics = None,
    log_dirs: LogDirs = None,
    groups: Groups = None,
    features: Features = None,
    cluster: ClusterName = None,
    request: Request = None,
    kafka_version: KafkaVersion = None,
    export: ExportFormat = None,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """The parameters that commands share; this function is never called."""


def _command(kind: str, *parts: str) -> Callable[[Callable[..., None]], None]:
    """Register `rackplan plan KIND` with the parameters and the docstring of a function, which is never called.

    The options of its files, `parts` of a cluster among them, come before its own, and those of its result after them.
    """

    def registered(function: Callable[..., None]) -> None:
        def command(**options: Any) -> None:
            _plan(kind, options)

        own, shared = inspect.signature(function).parameters, inspect.signature(_shared).parameters
        names = ["files", "snapshot", *parts, "cluster", "request", *own, *_OF_RESULTS]
        # An argument of its own comes before the files, which take all that follow.
        names.sort(key=lambda name: name != "group")
        register(plan, kind, command, [{**shared, **own}[name] for name in names], function.__doc__)

    return registered


def register(
    group: typer.Typer,
    name: str,
    command: Callable[..., None],
    parameters: Sequence[inspect.Parameter],
    doc: str | None,
) -> None:
    """Register a function as a command with these parameters, which it gets by name, and this docstring."""
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined] # read by inspect
    command.__annotations__ = {each.name: each.annotation for each in named}
    command.__doc__ = doc
    group.command(name)(command)


@_command("replicas", *_OF_CLUSTERS)
def plan_replicas(
    topic: Annotated[
        list[str] | None,
        typer.Option(help="name:partitions:replication_factor[:start_partition_id]; several, separated by commas."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(help="admin_utils, striped, awareness or copysets. Default: that of the cluster's controller."),
    ] = None,
    rack_mode: Annotated[str | None, typer.Option(help="enforced, safe or disabled.")] = None,
    fixed_start_index: Annotated[int | None, typer.Option(help="Start index of admin_utils.", min=0)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the generator.")] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="For awareness: spread, forced, hdfs, redis or kafka. Default: spread, over racks."),
    ] = None,
    forced: Annotated[list[str] | None, typer.Option(help="For the policy forced: expected racks.")] = None,
    load: Annotated[
        str | None, typer.Option(help="For awareness: what brokers have already counts, their replicas or their bytes.")
    ] = None,
    scatter_width: Annotated[
        int | None, typer.Option(help="For copysets: brokers that share partitions with a broker, at least.")
    ] = None,
    front: Annotated[bool, typer.Option("--front", help="For copysets: list the scatter widths.")] = False,
) -> None:
    """Place new topics. The JSON is that of POST /v1/plans/replicas."""


@_command("reassignment", *_OF_CLUSTERS)
def plan_reassignment(
    add_broker: Annotated[
        list[str] | None, typer.Option(help="id:rack, or id; several, separated by commas, as in all lists.")
    ] = None,
    remove_broker: Annotated[list[str] | None, typer.Option(help="Ids.")] = None,
    remove_rack: Annotated[list[str] | None, typer.Option(help="Racks all of whose brokers are removed.")] = None,
    replace_broker: Annotated[list[str] | None, typer.Option(help="old=new, two ids.")] = None,
    forbid_broker: Annotated[list[str] | None, typer.Option(help="Ids of brokers that receive no new replica.")] = None,
    receivers: Annotated[
        list[str] | None, typer.Option(help="Ids of the only brokers that receive replicas, or added.")
    ] = None,
    replication_factor: Annotated[list[str] | None, typer.Option(help="topic=factor.")] = None,
    partitions: Annotated[list[str] | None, typer.Option(help="topic=number, the new total.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Topics that may move. Default: every topic.")] = None,
    topics_to_move: Annotated[
        Path | None, typer.Option(help="Topics that may move: a --topics-to-move-json-file.")
    ] = None,
    leaders_only: Annotated[bool, typer.Option("--leaders-only", help="Move no replica; balance the leaders.")] = False,
    fix_offline_replicas: Annotated[
        bool, typer.Option("--fix-offline-replicas", help="Empty brokers that are fenced or down.")
    ] = False,
    rack_mode: Annotated[str | None, typer.Option(help="enforced, safe or disabled.")] = None,
    broker_sets: Annotated[
        Path | None, typer.Option(help="Broker sets: Cruise Control's brokerSets.json, or an object of ids by name.")
    ] = None,
    topic_set: Annotated[
        list[str] | None,
        typer.Option(help="topic=set, or topic_name_hash: as Cruise Control maps topics."),
    ] = None,
    balance: Annotated[str | None, typer.Option(help="Replicas: tight, keep, or a tolerance (0.05).")] = None,
    balance_by: Annotated[str | None, typer.Option(help="Balance replicas by count or bytes.")] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(help="broker=number, `*` for all others, or capacity: brokers are balanced by it."),
    ] = None,
    leaders: Annotated[
        str | None,
        typer.Option(
            help="Leaders: tight, keep, moved, preferred, a tolerance, or one above and one below (0.07:0.33)."
        ),
    ] = None,
    leaders_move_replicas: Annotated[
        bool, typer.Option("--leaders-move-replicas", help="Move replicas, too, to reach the band of leaders.")
    ] = False,
    topic_replicas: Annotated[
        str | None, typer.Option(help="Replicas of each topic as well: tight, or a tolerance.")
    ] = None,
    topic_leaders: Annotated[
        str | None, typer.Option(help="Leaders of each topic as well: tight, or a tolerance.")
    ] = None,
    in_rack: Annotated[
        list[str] | None, typer.Option(help="Topics, by commas, of which each partition is in one rack.")
    ] = None,
    spread_leaders: Annotated[
        list[str] | None, typer.Option(help="Topics, by commas, whose leaders are spread over their brokers.")
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option(help="bytes, replicas, leader_changes, or what a replica costs beside its bytes: 1GiB."),
    ] = None,
    max_moved_bytes: Annotated[
        str | None, typer.Option(help="A budget in bytes, such as 3.4TB: the best balance within it.")
    ] = None,
    copysets: Annotated[
        str | None,
        typer.Option(help="no_new: open no replica set that the cluster does not have. A number: sets of that width."),
    ] = None,
    trade_off: Annotated[bool, typer.Option("--trade-off", help="Add a table of movement against balance.")] = False,
    merge_running: Annotated[
        bool, typer.Option("--merge-running", help="Treat a reassignment in progress as complete.")
    ] = False,
    resources: Annotated[
        list[str] | None, typer.Option(help="Balance these by capacity: disk, nic_in, nic_out, cpu, by commas.")
    ] = None,
    limit: Limit = None,
    objective: Annotated[str | None, typer.Option(help="balance, or relieve: only what limits require.")] = None,
    capacity: Capacity = None,
    drain_log_dir: Annotated[
        list[str] | None, typer.Option(help="broker:path: log directories to empty, by commas: 101:/data/d1.")
    ] = None,
    balance_log_dirs: Annotated[
        str | None, typer.Option(help="Log directories of each broker: tight, keep, or a tolerance.")
    ] = None,
    log_dir_bytes: Annotated[
        list[str] | None, typer.Option(help="broker:path=bytes, or *:path=bytes: sizes of log directories, by commas.")
    ] = None,
    max_disk_share: Annotated[
        str | None, typer.Option(help="Share of a disk, or log directory, in use at any step: 0.8 or 80%.")
    ] = None,
    relax: Annotated[
        bool,
        typer.Option("--relax", help="If infeasible, plan the nearest feasible change."),
    ] = False,
    max_moves_in_per_broker: Annotated[
        int | None, typer.Option(help="Replicas that a broker receives in one batch. Default: 4.")
    ] = None,
    throttle: Annotated[
        str | None, typer.Option(help="Bytes/s of every broker, such as 100MB, for the duration of batches.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="For the format batch: its number, from 1.")] = None,
    inverse: Annotated[bool, typer.Option("--inverse", help="For the format batch: its rollback.")] = False,
) -> None:
    """Change a cluster with minimum movement. The JSON is that of POST /v1/plans/reassignment."""


@_command("group", *_OF_GROUPS)
def plan_group(
    group: Annotated[str | None, typer.Argument(help="The group's id; `--request` has its own.")] = None,
    assignor: Annotated[
        list[str] | None, typer.Option(help="Names from docs/groups.md, separated by commas. Default: the group's.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(help="leave=MEMBER, lose_rack=RACK or rolling_restart; repeatable, in order."),
    ] = None,
    ingress_bytes_per_s: Annotated[
        list[str] | None,
        typer.Option("--ingress-bytes-per-s", "--bytes-per-s", help="Rates: orders=4MB,…. Default: recorded."),
    ] = None,
    follower_fetching: Annotated[
        bool, typer.Option("--follower-fetching", help="Consumers fetch from a replica in their rack.")
    ] = False,
    cross_rack_per_gib: Annotated[float | None, typer.Option(help="Price of a GiB from rack to rack.", min=0)] = None,
    rebalance_seconds: Annotated[float | None, typer.Option(help="Seconds that a rebalance takes.", min=0)] = None,
) -> None:
    """Predict the assignment of a group. The JSON is that of POST /v1/plans/group."""


@_command("streams", *_OF_GROUPS)
def plan_streams(
    group: Annotated[str | None, typer.Argument(help="The Streams group's id; `--request` has its own.")] = None,
    topology: Annotated[Path | None, typer.Option(help="The output of Topology#describe().")] = None,
    application_id: Annotated[str | None, typer.Option(help="application.id.")] = None,
    protocol: Annotated[str | None, typer.Option(help="classic or streams.")] = None,
    assignor: Annotated[str | None, typer.Option(help="A name from docs/streams.md.")] = None,
    standbys: Annotated[int | None, typer.Option(help="num.standby.replicas.", min=0)] = None,
    tag: Annotated[list[str] | None, typer.Option(help="rack.aware.assignment.tags.")] = None,
) -> None:
    """Predict the tasks of a Streams application. The JSON is that of POST /v1/plans/streams."""


@_command("restart", *_OF_CLUSTERS)
def plan_restart(
    per: Annotated[str | None, typer.Option(help="broker, or rack: no wave has brokers of two racks.")] = None,
    max_brokers_per_wave: Annotated[int | None, typer.Option(help="Brokers of a wave. Default: any number.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="Limits of brokers, by commas: leaders=4000, nic_out=0.8, nic_in=, cpu=.")
    ] = None,
    capacity: Annotated[
        list[str] | None, typer.Option(help="Capacities, by commas: nic_out=BYTES_PER_S, cpu=, or 101:nic_out=….")
    ] = None,
    controllers: Annotated[list[str] | None, typer.Option(help="Ids of brokers that are controllers, too.")] = None,
    controllers_last: Annotated[bool, typer.Option("--controllers-last", help="Restart controllers last.")] = False,
    restart_seconds: Annotated[
        float | None, typer.Option(help="Seconds that a broker is down. Default: 120.", min=0)
    ] = None,
    catch_up_bytes_per_s: Annotated[
        str | None, typer.Option(help="Rate at which a broker catches up, as 5e7 or 50MB/s.")
    ] = None,
    min_insync_replicas: Annotated[
        int | None, typer.Option(help="min.insync.replicas of topics whose own is unknown. Default: 1.")
    ] = None,
    pod_name: Annotated[str | None, typer.Option(help="Name of a broker's pod. Default: kafka-{broker}.")] = None,
) -> None:
    """Restart brokers in the fewest waves. The JSON is that of POST /v1/plans/restart."""


@_command("consumers", *_OF_CLUSTERS)
def plan_consumers(
    series: Annotated[
        Path | None,
        typer.Option(help="JSON: the field `series` of a request, or an answer of Prometheus' query_range."),
    ] = None,
    capacity: Annotated[str | None, typer.Option(help="Bytes/s that a consumer can read, as 5e6 or '5 MB'.")] = None,
    delay_s: Annotated[float | None, typer.Option(help="Seconds that a record may wait. Default: 0.")] = None,
    start_s: Annotated[float | None, typer.Option(help="Seconds until a new consumer reads. Default: 0.")] = None,
    hold_s: Annotated[float | None, typer.Option(help="Seconds of a dip that is ignored. Default: 0.")] = None,
    spare: Annotated[int | None, typer.Option(help="Consumers beyond the fewest. Default: 0.")] = None,
    least: Annotated[int | None, typer.Option("--min", help="The fewest consumers. Default: 1.")] = None,
    most: Annotated[int | None, typer.Option("--max", help="The most consumers. Default: any number.")] = None,
    price: Annotated[float | None, typer.Option(help="Price of a consumer for an hour.")] = None,
    assignor: Annotated[str | None, typer.Option(help="Kafka's assignor to compare with. Default: uniform.")] = None,
    workload: Annotated[str | None, typer.Option(help="Name of the Deployment. Default: consumer.")] = None,
) -> None:
    """Scale the consumers of a group over time. The JSON is that of POST /v1/plans/consumers."""


@plan.command("keys")
def plan_keys(
    file: Annotated[Path, typer.Argument(help="One key a line; `-` is standard input.")],
    partitions: Annotated[int, typer.Option(help="Number of partitions of the topic.", max=1_000_000)],
    partitioner: Annotated[
        list[str] | None, typer.Option(help="Names from docs/keys.md, separated by commas. Default: murmur2.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="utf8, base64, int32 or int64. Default: utf8.")] = None,
    null_marker: Annotated[str | None, typer.Option(help="A line with this text is a record without key.")] = None,
    compare_partitions: Annotated[list[str] | None, typer.Option(help="Other partition counts.")] = None,
    null_keys: Annotated[bool, typer.Option("--null-keys", help="Place records without key too.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the generator for records without key.", min=-(2**63), max=2**63 - 1)
    ] = None,
    available_partition: Annotated[
        list[str] | None, typer.Option(help="Partitions that have a leader. Default: all.")
    ] = None,
    queue_size: Annotated[list[str] | None, typer.Option(help="Queued batches of each available partition.")] = None,
    batch_bytes: Annotated[int | None, typer.Option(help="batch.size.", min=1, max=2**31 - 1)] = None,
    record_bytes: Annotated[
        int | None, typer.Option(help="Bytes of a record in its batch.", min=0, max=2**31 - 1)
    ] = None,
    kafka_version: KafkaVersion = None,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Find the partition of each key. The JSON is that of POST /v1/keys/partitions.

    Each option for records without key implies --null-keys.
    """
    options = dict(locals())
    with uncollected():
        from app.cli import plan_keys as placing  # noqa: PLC0415 — see the module's docstring
        from app.cli import plan_options  # noqa: PLC0415 — as above

    fields = plan_options.fields_of(options, plan_options.KEYS)
    body = placing.body_of(file, fields, null_marker=null_marker, null_keys=null_keys)
    answer = service.place_keys(url, body) if url is not None else placing.place_keys(body)
    deliver(answer, output, as_json=as_json)


def _plan(kind: str, options: Mapping[str, Any]) -> None:
    """Plan with the options of a command, and write the plan."""
    with uncollected():
        from app.cli import plan_options, planning  # noqa: PLC0415 — see the module's docstring

    stated = dict(options)
    if kind == "reassignment":
        stated["topic"] = plan_options.named_topics(options["topic"], options["topics_to_move"])
    fields = plan_options.fields_of(stated, plan_options.OF_KIND[kind])
    body = planning.body_of(fields, options["request"])
    export = planning.Export(options["export"], options.get("batch"), options.get("inverse", False))
    inputs = inputs_of(options)
    if options["url"] is not None:
        answer = service.make_plan(options["url"], kind, body, inputs, export)
    else:
        answer = planning.make(kind, body, inputs, export)
    deliver(answer, options["output"], as_json=options["as_json"] or export.name is not None)


def inputs_of(options: Mapping[str, Any]) -> "Inputs":
    """The files of a command that describe a cluster."""
    from app.cli.planning import Inputs  # noqa: PLC0415 — see the module's docstring

    parts = {part: options.get(part) for part in ("brokers", "topics", "log_dirs", "groups", "features")}
    return Inputs(options["files"] or (), parts, options["snapshot"], options["cluster"])


def cluster_of(options: Mapping[str, Any]) -> "Cluster":
    """The cluster that the files of a command describe, or that of a snapshot of the service."""
    inputs = inputs_of(options)
    if options["url"] is None or not inputs.is_remote:
        return inputs.cluster()
    return service.cluster(options["url"], inputs)
